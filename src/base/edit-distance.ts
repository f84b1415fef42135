/** Computes the edit distance of two words, and suggests corrections for misspelt words. */

/**
 * Returns the minimum number of edits that turn `a` into `b`. An edit inserts, deletes or replaces one character, or
 * swaps two neighbouring characters. Takes time |a| × |b|.
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

/**
 * Returns the largest edit distance at which a word counts as misspelt. This is a third of the length of the word, but
 * at most 3.
 */
export const mostEdits = (word: string): number => Math.min(3, Math.floor(word.length / 3));

/** Returns the one of `words` that is nearest to `word`, ignoring case. Returns undefined if none is near enough. */
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
