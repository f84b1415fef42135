/** Parses ranges of lines in the form in which models write them, and cuts long lines. */

import { z } from "zod";

export const lineRange = z
  .string()
  .regex(/^\d+(-\d*)?$/, { error: 'must be like "40-80", "40-" or "40"', abort: true })
  .refine((lines) => rangeOf(lines).first <= rangeOf(lines).last, {
    error: ({ input }) => {
      const [first, last] = String(input).split("-");
      return `must be "${last}-${first}"`;
    },
  })
  .optional();

/**
 * Parses a range of lines, which are counted from 1. If the end is open, `last` is Infinity. REQUIRES: `lines`
 * matches `lineRange`.
 */
export function rangeOf(lines: string): { first: number; last: number } {
  const [, first, dash, last] = /^(\d+)(-?)(\d*)$/.exec(lines)!;
  return { first: Number(first), last: last ? Number(last) : dash ? Infinity : Number(first) };
}

/** The maximum number of UTF-16 units that are shown of a line. Models must use the tool `search` for minified code. */
const LONG = 2_000;

export const cutLong = (line: string): string =>
  line.length <= LONG ? line.trimEnd() : `${line.slice(0, LONG)}… (${line.length} characters)`;
