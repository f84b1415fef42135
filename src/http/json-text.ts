/**
 * Writes JSON for event streams. Some clients split a stream at every line end that Unicode defines, including
 * U+2028, U+2029 and U+0085, which JSON allows in a string. These are escaped, which does not change the value.
 */

const LINE_ENDS = /[\u0085\u2028\u2029]/g;

const escapeOf = (end: string): string => `\\u${end.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Returns what JSON.stringify() does, with every such line end escaped. REQUIRES: plain data. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value).replace(LINE_ENDS, escapeOf);
