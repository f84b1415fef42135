/**
 * Decides which paths may enter the index. A valid path is relative, has '/' between its parts, and is well-formed
 * Unicode of at most 4 096 bytes in UTF-8. It has no NUL, and no part that is empty, '.' or '..'. As in git, names may
 * contain all other characters, such as a backslash, a colon, a space or a line feed. A file with an invalid path is
 * listed as 'invalid-path' and never opened.
 */

import { createHash } from "node:crypto";
import { isAbsolute, relative, sep } from "node:path";
import { compareText } from "./compare.ts";

const MAX_PATH_BYTES = 4096;

// matches a NUL, and a part that is empty, '.' or '..'
const BAD_PARTS = /\0|(?:^|\/)\.{0,2}(?:\/|$)/;
const LONE_SURROGATE = /\p{Cs}/u;

export function isValidPath(path: string): boolean {
  return !BAD_PARTS.test(path) && fitsBytes(path) && !LONE_SURROGATE.test(path);
}

function fitsBytes(path: string): boolean {
  // a UTF-16 code unit takes at most three bytes in UTF-8
  return path.length * 3 <= MAX_PATH_BYTES || Buffer.byteLength(path) <= MAX_PATH_BYTES;
}

/** Removes trailing slashes. A regular expression would take quadratic time. */
export function withoutEndSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === "/") end--;
  return path.slice(0, end);
}

/**
 * Returns the path of `inner` relative to `outer`, with '/' between its parts. Returns '' if they are equal,
 * and undefined if `inner` is not inside `outer`.
 */
export function pathWithin(outer: string, inner: string): string | undefined {
  const path = relative(outer, inner);
  const isOutside = path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path);
  return isOutside ? undefined : path.split(sep).join("/");
}

/** Copies a string that was cut out of a longer one. Without the copy, the whole longer string would stay in memory. */
export const ownText = (text: string): string => Buffer.from(text, "utf16le").toString("utf16le");

const MOST_PRINTED = 1_024;

/**
 * Makes an invalid path fit for display: well-formed, without control characters, and of at most 1 024 UTF-16 units. A
 * longer path is cut and ends with part of a hash of the whole path, so that long paths with the same beginning stay
 * different. Shorter paths become equal if they differ only in characters that are replaced.
 */
export function printablePath(path: string): string {
  const isCut = path.length > MOST_PRINTED;
  const end = isCut ? `…${createHash("sha256").update(path).digest("hex").slice(0, 12)}` : "";
  const text = ownText(path.slice(0, MOST_PRINTED - end.length));
  return `${text.replace(/[\p{Cs}\p{Cc}]/gu, "\ufffd")}${end}`;
}

/**
 * Orders paths by their UTF-8 bytes, as git does. The order by UTF-16 code units is different only for paths with
 * surrogates.
 */
export function comparePaths(a: string, b: string): number {
  if (SURROGATE.test(a) || SURROGATE.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return compareText(a, b);
}

const SURROGATE = /[\ud800-\udfff]/;
