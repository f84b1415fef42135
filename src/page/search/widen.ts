/** Shows more lines around matches, taken from the file itself. */

import type { Line } from "./lines.ts";

/** Returns the marked lines with `around` lines on each side, as blocks. Blocks that meet are joined. */
export function widen(lines: readonly Line[], source: readonly string[], around: number): Line[][] {
  const sorted = lines.toSorted((a, b) => a.number - b.number); // the best lines may come first
  const known = new Map(sorted.map((line) => [line.number, line]));
  const last = source.at(-1) === "" ? source.length - 1 : source.length;
  const blocks: Line[][] = [];
  let end = 0; // the last line of the block
  for (const { number, marks } of sorted) {
    if (marks.length === 0) continue;
    const from = Math.max(number - around, end + 1, 1);
    if (from > end + 1 || blocks.length === 0) blocks.push([]);
    const to = Math.min(number + around, last);
    for (let at = from; at <= to; at++)
      blocks.at(-1)!.push(known.get(at) ?? { number: at, text: source[at - 1]!, marks: [] });
    end = Math.max(end, to);
  }
  return blocks;
}
