/** Computes the edit distance of two words, and suggests corrections for misspelt words. */

/**
 * Returns the number of edits that turn `a` into `b`: a character inserted, deleted, replaced, or swapped with its
 * neighbour. Takes time |a| × |b|.
 */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row[j] = Math.min(last[j]! + 1, row[j - 1]! + 1, replace);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) row[j] = Math.min(row[j]!, beforeLast[j - 2]! + 1);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}

/** Returns the largest edit distance at which a word counts as misspelt: a third of its length, at most 3. */
export const mostEdits = (word: string): number => Math.min(3, Math.floor(word.length / 3));

/** Returns the nearest of `words`, ignoring case, or undefined if none is near. */
export function nearestWord(word: string, words: readonly string[]): string | undefined {
  const wanted = word.toLowerCase();
  if (wanted.length > 40) return undefined;
  let best = mostEdits(wanted) + 1;
  let nearest: string | undefined;
  for (const candidate of words) {
    const distance = editDistance(candidate.toLowerCase(), wanted);
    if (distance >= best) continue;
    best = distance;
    nearest = candidate;
  }
  return nearest;
}
