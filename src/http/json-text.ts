/**
 * Writes JSON for event streams. Some clients split a stream at every line end of Unicode, U+2028, U+2029
 * and U+0085 included, which JSON allows in a string. They are escaped, which means the same.
 */

const LINE_ENDS = /[\u0085\u2028\u2029]/g;

const escapeOf = (end: string): string => `\\u${end.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Returns what JSON.stringify() does, with every line end escaped. REQUIRES: plain data. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value).replace(LINE_ENDS, escapeOf);
