/**
 * Makes error messages that show a position in a query. Such a message has the line of the query, and a caret under
 * the position. A long line is shortened to the text around the position.
 */

import { QuernError, type ErrorCode } from "../base/errors.ts";

/** The number of UTF-16 units that are kept on each side of the position. */
const REACH = 40;

/** Makes an error whose message shows the position. REQUIRES: 0 <= position <= query.length. */
export function pointingError(
  code: ErrorCode,
  reason: string,
  query: string,
  position: number,
): QuernError {
  return new QuernError(code, `${reason}\n${pointAt(query, position)}`, { position });
}

/** Returns two lines: the line of the query that contains `position`, and a line with a `^` under `position`. */
export function pointAt(query: string, position: number): string {
  const lineStart = query.lastIndexOf("\n", position - 1) + 1;
  const lineEnd = endOfLine(query, position);
  const from = wholeCharacter(query, Math.max(lineStart, position - REACH));
  const to = wholeCharacter(query, Math.min(lineEnd, position + REACH));
  const before = (from > lineStart ? "…" : "") + query.slice(from, position);
  const after = query.slice(position, to) + (to < lineEnd ? "…" : "");
  return `  ${printable(before + after)}\n  ${" ".repeat(Array.from(before).length)}^`;
}

/** Returns `at`, or the next position if `at` would split a surrogate pair. */
function wholeCharacter(query: string, at: number): number {
  return at > 0 && query.codePointAt(at - 1)! > 0xffff ? at + 1 : at;
}

function endOfLine(query: string, position: number): number {
  const newline = query.indexOf("\n", position);
  return newline === -1 ? query.length : newline;
}

/** Replaces tabs, returns and other control characters by blanks, so that each takes one column. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, " ");
}
