/**
 * Writes JSON that is also safe in event streams. JSON allows U+2028, U+2029 and U+0085 in a string, but Unicode
 * defines them as line ends, and some clients split a stream at every line end. These characters are escaped, which
 * does not change the value.
 */

const LINE_ENDS = /[\u0085\u2028\u2029]/g;

const escapeOf = (end: string): string => `\\u${end.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Returns the text that JSON.stringify() returns, with all of these line ends escaped. REQUIRES: plain data. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value).replace(LINE_ENDS, escapeOf);
