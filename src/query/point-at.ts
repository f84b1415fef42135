/**
 * Errors that show the place: the line of the query that holds it, and a caret under it. A long line
 * is cut to a window, so that a message stays readable whatever the query's size.
 */

import { QuernError, type ErrorCode } from "../base/errors.ts";

/** UTF-16 units kept on each side of the place. */
const REACH = 40;

/** REQUIRES: 0 <= position <= query.length. */
export function pointingError(
  code: ErrorCode,
  reason: string,
  query: string,
  position: number,
): QuernError {
  return new QuernError(code, `${reason}\n${pointAt(query, position)}`, { position });
}

/** Two lines: the query's line, and `^` under `position`. */
export function pointAt(query: string, position: number): string {
  const lineStart = query.lastIndexOf("\n", position - 1) + 1;
  const lineEnd = endOfLine(query, position);
  const from = wholeCharacter(query, Math.max(lineStart, position - REACH));
  const to = wholeCharacter(query, Math.min(lineEnd, position + REACH));
  const before = (from > lineStart ? "…" : "") + query.slice(from, position);
  const after = query.slice(position, to) + (to < lineEnd ? "…" : "");
  return `  ${printable(before + after)}\n  ${" ".repeat(Array.from(before).length)}^`;
}

/** `at`, or one on where it would part a surrogate pair. */
function wholeCharacter(query: string, at: number): number {
  return at > 0 && query.codePointAt(at - 1)! > 0xffff ? at + 1 : at;
}

function endOfLine(query: string, position: number): number {
  const newline = query.indexOf("\n", position);
  return newline === -1 ? query.length : newline;
}

/** One column for one character: tabs, returns and other controls become blanks. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, " ");
}
