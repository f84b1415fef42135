/** Finds names as whole words in texts. */

const isWordPart = (char: string | undefined): boolean =>
  char !== undefined && /[\p{L}\p{N}_$]/u.test(char);

/** Yields the positions of a name as a word, in UTF-16 units. */
export function* wordsAt(text: string, name: string): Generator<number> {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + name.length))
    if (!isWordPart(text[at - 1]) && !isWordPart(text[at + name.length])) yield at;
}

export const hasWord = (text: string, name: string): boolean => !wordsAt(text, name).next().done;

/**
 * Returns whether a text may declare a member of this name. After a dot, a name is only declared where it is assigned,
 * such as a field in a constructor.
 */
export function declares(text: string, name: string): boolean {
  for (const at of wordsAt(text, name)) {
    if (text[at - 1] !== ".") return true;
    if (/^\s*(?::[^=]|=[^=])/.test(text.slice(at + name.length, at + name.length + 20)))
      return true;
  }
  return false;
}
