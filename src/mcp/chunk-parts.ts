/** Chunks cut into the pieces that an answer tells or leaves out: each has the matches of one line, and lines around. */

import type { Chunk, Range } from "../search/messages/response.ts";

export interface ChunkPart {
  readonly lines: readonly string[];
  /** The number of the first line. */
  readonly first: number;
  /** Where the first line begins: it may be a window of a long one. */
  readonly column: number;
  /** At least one. */
  readonly matches: readonly Range[];
}

/** A part begins with the line of a match; the first one has what stands before. */
export function partsOf({ content, contentStart, matchRanges }: Chunk): ChunkPart[] {
  const lines = content.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const groups: Range[][] = [];
  for (const range of matchRanges) {
    const last = groups.at(-1)?.at(-1);
    if (last && range.start.lineNumber <= last.end.lineNumber) groups.at(-1)!.push(range);
    else groups.push([range]);
  }
  return groups.map((matches, i) => {
    const first = i === 0 ? contentStart.lineNumber : matches[0]!.start.lineNumber;
    const next = groups[i + 1]?.[0]!.start.lineNumber ?? Infinity;
    const from = first - contentStart.lineNumber;
    return {
      lines: lines.slice(from, next - contentStart.lineNumber),
      first,
      column: i === 0 ? contentStart.column : 1,
      matches,
    };
  });
}
