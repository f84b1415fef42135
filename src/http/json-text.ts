/**
 * JSON as it leaves. Some clients split an event stream wherever Unicode ends a line: at U+2028, U+2029
 * and U+0085 too, which JSON lets stand in a string. They are written as escapes, which read the same.
 */

const LINE_ENDS = /[\u0085\u2028\u2029]/g;

const escapeOf = (end: string): string => `\\u${end.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** As JSON.stringify(), with every line end escaped. REQUIRES: plain data. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value).replace(LINE_ENDS, escapeOf);
