/**
 * Cuts chunks into the pieces that an answer shows or leaves out. Each piece has the matches of one line, with the
 * surrounding lines.
 */

import type { Chunk, Range, ResultSymbol } from "../search/messages/response.ts";

export interface ChunkPart {
  readonly lines: readonly string[];
  /** The number of the first line. */
  readonly first: number;
  /** The column at which the first line begins. Above 1 if this is only a part of a long line. */
  readonly column: number;
  /** The matches in this part, at least one. */
  readonly matches: readonly Range[];
  /** The definition around the first match, if the request asked for it and there is one. */
  readonly around?: ResultSymbol | null | undefined;
}

/** Cuts a chunk. Each part begins with the line of a match; the first part also has the lines before it. */
export function partsOf({ content, contentStart, matchRanges, enclosing }: Chunk): ChunkPart[] {
  const lines = content.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const groups: Range[][] = [];
  for (const range of matchRanges) {
    const last = groups.at(-1)?.at(-1);
    if (last && range.start.lineNumber <= last.end.lineNumber) groups.at(-1)!.push(range);
    else groups.push([range]);
  }
  let range = 0;
  return groups.map((matches, i) => {
    const around = enclosing?.[range];
    range += matches.length;
    const first = i === 0 ? contentStart.lineNumber : matches[0]!.start.lineNumber;
    const next = groups[i + 1]?.[0]!.start.lineNumber ?? Infinity;
    const from = first - contentStart.lineNumber;
    return {
      lines: lines.slice(from, next - contentStart.lineNumber),
      first,
      column: i === 0 ? contentStart.column : 1,
      matches,
      around,
    };
  });
}
