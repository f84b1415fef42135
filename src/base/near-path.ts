/**
 * Finds paths by words that are not quite right: a letter is wrong, missing, too many or swapped with its neighbour, or
 * letters are left out, as in `srchpg` for `search-page`. nearPathExpression() makes an expression that matches all
 * such paths and some others. The caller searches for it, and nearestPaths() decides which paths are near, and sorts
 * them.
 */

/** A longer word is not compared letter by letter, so its expression stays short. */
const MOST_LETTERS = 40;
/** A word from this length on may have an edit in each of its halves. */
const TWO_EDITS_FROM = 8;
/** A shorter word may have no edit, because too many paths would be near it. */
const ONE_EDIT_FROM = 4;

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** Returns an expression that matches every path that is near the word. Case does not matter. */
export function nearPathExpression(word: string): string {
  const letters = Array.from(word);
  if (letters.length > MOST_LETTERS) return escaped(word);
  const leftOut = letters.map(escaped).join("[^/]*");
  if (letters.length < ONE_EDIT_FROM) return leftOut;
  const half = Math.ceil(letters.length / 2);
  const edited =
    letters.length < TWO_EDITS_FROM
      ? withOneEdit(letters)
      : withOneEdit(letters.slice(0, half)) + withOneEdit(letters.slice(half));
  return `(?:${leftOut}|${edited})`;
}

/** Matches the letters, and everything that one edit makes of them. */
function withOneEdit(letters: readonly string[]): string {
  const text = letters.map(escaped);
  const ways = text.map((_, i) => {
    const [before, after] = [text.slice(0, i).join(""), text.slice(i + 1).join("")];
    const afterNext = text.slice(i + 2).join("");
    // two letters stand for one that is inserted or for two that are swapped
    return i + 1 < text.length ? `${before}.{0,2}(?:${after}|${afterNext})` : `${before}.{0,2}`;
  });
  return `(?:${ways.join("|")})`;
}

/**
 * Returns the texts whose path is near every word, the nearest first. Words that occur as they are come before others,
 * the last name of the path before its folders, and short paths before long ones.
 */
export function nearestPaths<T>(
  found: readonly T[],
  pathOf: (one: T) => string,
  words: readonly string[],
): T[] {
  return found
    .map((one) => {
      const path = pathOf(one);
      const cost = words.reduce((sum, word) => sum + costOf(path.toLowerCase(), word), 0);
      return { one, path, cost };
    })
    .filter(({ cost }) => cost < Infinity)
    .sort((a, b) => a.cost - b.cost || a.path.length - b.path.length || (a.path < b.path ? -1 : 1))
    .map(({ one }) => one);
}

const IN_FOLDER = 0.5;

/** How far a word is from a path in lower case. 0 is a word in the last name, Infinity one that is not near. */
function costOf(path: string, word: string): number {
  const wanted = Array.from(word.toLowerCase());
  const name = path.slice(path.lastIndexOf("/") + 1);
  return Math.min(costIn(name, wanted), costIn(path, wanted) + IN_FOLDER);
}

function costIn(text: string, wanted: readonly string[]): number {
  if (text.includes(wanted.join(""))) return 0;
  if (wanted.length > MOST_LETTERS) return Infinity;
  const most = wanted.length < ONE_EDIT_FROM ? 0 : wanted.length < TWO_EDITS_FROM ? 1 : 2;
  const edits = editsWithin(Array.from(text), wanted);
  const gaps = Math.min(...text.split("/").map((name) => gapsIn(Array.from(name), wanted)));
  return Math.min(edits <= most ? 1 + edits : Infinity, 2 + gaps / 2);
}

/** Returns the least number of edits that turn any part of the text into the word. */
function editsWithin(text: readonly string[], word: readonly string[]): number {
  let [beforeLast, last]: number[][] = [[], word.map((_, j) => j + 1)];
  let least = last!.at(-1)!;
  let previous: string | undefined;
  for (const letter of text) {
    const row: number[] = [];
    for (let j = 0; j < word.length; j++) {
      const replaced = (j === 0 ? 0 : last![j - 1]!) + (word[j] === letter ? 0 : 1);
      const inserted = (j === 0 ? 0 : row[j - 1]!) + 1;
      row[j] = Math.min(replaced, inserted, last![j]! + 1);
      if (j > 0 && word[j] === previous && word[j - 1] === letter && beforeLast!.length > 0)
        row[j] = Math.min(row[j]!, (j === 1 ? 0 : beforeLast![j - 2]!) + 1);
    }
    [beforeLast, last, previous] = [last!, row, letter];
    least = Math.min(least, row.at(-1)!);
  }
  return least;
}

/** A long name has the letters of most words somewhere, so they must be within this many times the word's length. */
const MOST_SPREAD = 4;

/** Returns how often the letters of the word are interrupted in a name, or Infinity if they are not close together. */
function gapsIn(name: readonly string[], word: readonly string[]): number {
  let least = Infinity;
  for (let start = 0; start < name.length; start++) {
    if (name[start] !== word[0]) continue;
    let [at, gaps] = [start, 0];
    for (const letter of word.slice(1)) {
      const next = name.indexOf(letter, at + 1);
      if (next < 0) return least; // nor behind any later start
      if (next > at + 1) gaps++;
      at = next;
    }
    if (at - start < MOST_SPREAD * word.length) least = Math.min(least, gaps);
  }
  return least;
}
