/** Parses ranges of lines as a model names them, and cuts long lines. */

import { z } from "zod";

export const lineRange = z
  .string()
  .regex(/^\d+(-\d*)?$/, 'like "40-80", "40-" or "40"')
  .optional();

/** Parses a range: 1-based, with Infinity for an open end. REQUIRES: `lines` matches `lineRange`. */
export function rangeOf(lines: string): { first: number; last: number } {
  const [, first, dash, last] = /^(\d+)(-?)(\d*)$/.exec(lines)!;
  return { first: Number(first), last: last ? Number(last) : dash ? Infinity : Number(first) };
}

/** The maximum number of UTF-16 units of a line. A model that reads minified code must use search instead. */
const LONG = 2_000;

export const cutLong = (line: string): string =>
  line.length <= LONG ? line.trimEnd() : `${line.slice(0, LONG)}… (${line.length} characters)`;
