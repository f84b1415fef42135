/**
 * Creates the results of find_definitions and find_references. A result is a match with the line on which it begins.
 * If the line is long, the result contains only a window around the match. With whole lines, a minified file with a
 * single line of half a megabyte led to a response of 409 MB. Each chunk is read only once, however many matches it
 * has.
 */

import type { Chunk, FileResult, Position, Range } from "../search/messages/response.ts";

/**
 * The maximum length of a line that is shown whole, in UTF-16 units. In a longer line, at most this many code points
 * of a match are shown, plus the window after them.
 */
const LONG_LINE = 1024;
/** The number of code points that are shown on each side of a match. */
const WINDOW = 256;

export interface LineMatch {
  /** The line without its newline. */
  readonly lineContent: string;
  /** The position at which lineContent begins. Absent if that is the start of the line. */
  readonly lineContentStart?: Position;
  readonly range: Range;
}

export const lineMatches = ({ chunks }: Pick<FileResult, "chunks">): LineMatch[] =>
  chunks.flatMap(linesOf);

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
 * Returns the index that is WINDOW code points before `from`, but at least `least`. Stops at a U+FFFD, because this
 * character may stand for invalid bytes, and their number is not known here.
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
