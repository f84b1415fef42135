/**
 * Separates quern's own words from text of repositories, which may be written to deceive the model that reads an
 * answer. The rule:
 *
 * - A line that begins with `# ` has quern's own words. A name in it that is not plain is a JSON string.
 * - Every other line comes from a repository. It never begins with `#`: such a line gets a space in front.
 * - No line contains a character that breaks lines, moves the cursor, reverses text or is a hidden tag. Such a
 *   character is written as an escape, such as `\r` or `\u202e`.
 */

/** The beginning of each line that has quern's own words. */
export const MARK = "# ";

/** Control characters except tabs, separators of lines, marks of direction, and the tags that mirror ASCII. */
const HIDDEN =
  /(?!\t)[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;
const HAS_HIDDEN = new RegExp(HIDDEN.source, "u");
const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r" };

/** Returns the text with escapes in place of all characters that a reader does not see as what they are. */
export const visible = (text: string): string =>
  HAS_HIDDEN.test(text) ? text.replace(HIDDEN, (one) => SHORT[one] ?? escaped(one)) : text;

function escaped(character: string): string {
  const code = character.codePointAt(0)!.toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
}

/** Returns a line of a repository as answers contain it. */
export const contentLine = (line: string): string =>
  visible(line.startsWith("#") ? ` ${line}` : line);

/** Returns a line of quern's own words as answers contain it. */
export const ownLine = (words: string): string => `${MARK}${visible(words)}`;

const PLAIN = /^[\p{L}\p{M}\p{N}_$@~./:+-]+$/u;

/** Returns a name from a repository as quern's own words contain it. */
export const named = (name: string): string => (PLAIN.test(name) ? name : JSON.stringify(name));
