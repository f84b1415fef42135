/**
 * Makes the answers of find_definitions and find_references: each match with the line on which it begins. If a line is
 * long, only a window around the match is shown. With whole lines, a minified file with a single line of half a
 * megabyte led to an answer of 409 MB. Each chunk is read once, whatever the number of matches.
 */

import type { Chunk, FileResult, Position, Range } from "../search/messages/response.ts";

/**
 * The longest line that is shown whole, and the most that is shown of a match in a longer line, in UTF-16 units.
 */
const LONG_LINE = 1024;
/** The code points that are shown on each side of a match. */
const WINDOW = 256;

export interface LineMatch {
  /** The line without its newline. */
  readonly lineContent: string;
  /** The position at which lineContent begins. Absent if that is the start of the line. */
  readonly lineContentStart?: Position;
  readonly range: Range;
}

export const lineMatches = ({ chunks }: FileResult): LineMatch[] => chunks.flatMap(linesOf);

/** Lists the matches of a chunk. REQUIRES: its ranges are sorted, as they are in every chunk. */
function linesOf({ content, contentStart, matchRanges }: Chunk): LineMatch[] {
  const place: Place = { at: 0, column: contentStart.column, lineStart: 0 };
  let line = contentStart.lineNumber;
  let lineEnd = endOfLine(content, 0);
  return matchRanges.map((range) => {
    for (; line < range.start.lineNumber && lineEnd < content.length; line++) {
      Object.assign(place, { at: lineEnd + 1, column: 1, lineStart: lineEnd + 1 });
      lineEnd = endOfLine(content, lineEnd + 1);
    }
    const isWhole = line > contentStart.lineNumber || contentStart.column === 1;
    if (isWhole && lineEnd - place.lineStart <= LONG_LINE)
      return { lineContent: content.slice(place.lineStart, lineEnd), range };
    place.at = forth(content, { from: place.at, to: lineEnd }, range.start.column - place.column);
    place.column = range.start.column;
    return windowAt(content, { ...place, lineEnd }, range);
  });
}

/** A position in a chunk: its index in the string, its column, and the index where its line starts. */
interface Place {
  at: number;
  column: number;
  lineStart: number;
}

function windowAt(
  content: string,
  { at, lineStart, lineEnd }: Place & { readonly lineEnd: number },
  range: Range,
): LineMatch {
  const { start, end } = range;
  const length = end.lineNumber === start.lineNumber ? end.column - start.column : LONG_LINE;
  const behind = forth(content, { from: at, to: lineEnd }, Math.min(length, LONG_LINE) + WINDOW);
  const from = back(content, { from: at, least: lineStart });
  const before = content.slice(from, at);
  const lineContent = content.slice(from, behind);
  const column = start.column - Array.from(before).length;
  if (column === 1) return { lineContent, range };
  const byteOffset = start.byteOffset - Buffer.byteLength(before);
  return { lineContent, lineContentStart: { ...start, byteOffset, column }, range };
}

function endOfLine(content: string, from: number): number {
  const newline = content.indexOf("\n", from);
  return newline < 0 ? content.length : newline;
}

/** Returns the index that is `points` code points after `from`, but at most `to`. */
function forth(
  content: string,
  { from, to }: { from: number; to: number },
  points: number,
): number {
  let at = from;
  for (let left = points; left > 0 && at < to; left--) at += isPair(content, at) ? 2 : 1;
  return Math.min(at, to);
}

/**
 * Returns the index that is WINDOW code points before `from`, but at least `least`. Does not go back over a U+FFFD,
 * because it may stand for an invalid byte, whose length in the file is unknown here.
 */
function back(content: string, { from, least }: { from: number; least: number }): number {
  let at = from;
  for (let left = WINDOW; left > 0 && at > least; left--) {
    if (content[at - 1] === "\ufffd") break;
    at -= at - 2 >= least && isPair(content, at - 2) ? 2 : 1;
  }
  return at;
}

const isPair = (content: string, at: number): boolean => content.codePointAt(at)! > 0xffff;
