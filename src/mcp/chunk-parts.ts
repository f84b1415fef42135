/**
 * Cuts chunks into parts. An answer can show some parts of a chunk and leave out the others. Each part contains the
 * matches on one line, with the lines around it.
 */

import type { Chunk, Range, ResultSymbol } from "../search/messages/response.ts";

export interface ChunkPart {
  readonly lines: readonly string[];
  /** The line number of the first line. */
  readonly first: number;
  /** The column of the first character in `lines`. It is above 1 if the first line is only a part of a long line. */
  readonly column: number;
  /** The matches in this part, at least one. */
  readonly matches: readonly Range[];
  /** The definition around the first match, if the request asked for it and there is one. */
  readonly around?: ResultSymbol | null | undefined;
}

/**
 * Cuts a chunk into parts. Each part begins with a line that contains a match, except that the first part also has the
 * lines before that line.
 */
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
