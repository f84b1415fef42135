/**
 * Cuts a file into chunks around ranges. A chunk contains the lines of a range and `contextLines` more lines on each
 * side. Ranges that share any of these lines are in the same chunk. If a line has more than LONG_LINE bytes, the chunk
 * contains only WINDOW bytes of the line on each side of a match. Otherwise, a response with matches in a minified file
 * could be a hundred times larger than the matches.
 */

import type { Pause } from "../../../base/yield.ts";
import { ChunkPacker, type PackedChunks } from "../../messages/packed-chunks.ts";
import type { Line, Lines } from "./positions.ts";
import type { ResultSymbol } from "../../messages/response.ts";

const NEWLINE = 10;
const LONG_LINE = 4096;
const WINDOW = 256;

/** The number of ranges between two checks of the clock. */
const RANGES_PER_PAUSE = 64;

/**
 * The number of lines, including context, that are cut into chunks even if the search was stopped. Without this, a busy
 * machine would show nothing. Cutting this many lines takes about 10 ms.
 */
const MOST_LATE = 4096;

/** The parameters for cutting a file into chunks. */
export interface Cutting {
  readonly contextLines: number;
  /** Returns the definition whose name contains a range, if any. */
  readonly symbolOf: (from: number, to: number) => ResultSymbol | undefined;
  /** Returns the definition around a line. Undefined if the request did not ask for definitions. */
  readonly enclosing: ((line: Line) => ResultSymbol | null) | undefined;
  /** Called and awaited regularly, because a file may have any number of ranges. */
  readonly pause: Pause;
  /** Returns true once the search was stopped. Only the first ranges are then put into chunks. */
  readonly isStopped: () => boolean;
}

/**
 * Cuts a file into chunks.
 * REQUIRES: the pairs (from, to) are ascending and do not overlap.
 */
export async function cutChunks(
  lines: Lines,
  pairs: Uint32Array,
  { contextLines, symbolOf, enclosing, pause, isStopped }: Cutting,
): Promise<PackedChunks> {
  const packer = new ChunkPacker();
  let isCut = false;
  for (let i = 0; i < pairs.length && !isCut;) {
    let [from, to] = [pairs[i]!, pairs[i + 1]!];
    const start = windowStart(lines, lines.at(from), from, contextLines);
    const contentStart = lines.position(start);
    for (let end = start; ; [from, to] = [pairs[i]!, pairs[i + 1]!]) {
      const around = enclosing?.(lines.at(from));
      const last = lines.at(Math.max(from, to - 1));
      packer.range(lines.range(from, to), { symbol: symbolOf(from, to), enclosing: around });
      i += 2;
      if (i % (2 * RANGES_PER_PAUSE) === 0) {
        isCut = (i / 2) * (1 + contextLines) > MOST_LATE && isStopped();
        await pause();
      }
      const hasNext = i < pairs.length && !isCut;
      if (hasNext && isNear(last, lines.at(pairs[i]!), contextLines)) continue;
      end = Math.max(end, windowEnd(lines, last, to, contextLines));
      if (hasNext && joins(lines, pairs[i]!, contextLines, end)) continue;
      packer.chunk(lines.text.subarray(start, end), contentStart);
      break;
    }
  }
  return packer.finish();
}

/**
 * Returns true if the lines shown around `a` and `b` certainly overlap, because few bytes and few lines lie between `a`
 * and `b`. This test is quick. Finding up to 1 000 lines of context for each match would take seconds.
 */
const isNear = (a: Line, b: Line, contextLines: number): boolean =>
  b.end - a.start <= LONG_LINE && b.number - a.number <= 2 * contextLines;

/** Returns true if the part that is shown around a range at `from` begins before `end`. */
const joins = (lines: Lines, from: number, contextLines: number, end: number): boolean =>
  windowStart(lines, lines.at(from), from, contextLines) < end;

function isLong({ text }: Lines, { start, end }: Line): boolean {
  return end - start - (text[end - 1] === NEWLINE ? 1 : 0) > LONG_LINE;
}

function windowStart(lines: Lines, line: Line, from: number, contextLines: number): number {
  let start = from;
  let current = line;
  for (let i = 0; i <= contextLines; i++) {
    if (i > 0 && start === 0) break;
    if (i > 0) current = lineBefore(lines, current);
    if (isLong(lines, current) && start - current.start > WINDOW)
      return characterStart(lines.text, start - WINDOW, current.start);
    start = current.start;
  }
  return start;
}

function windowEnd(lines: Lines, line: Line, to: number, contextLines: number): number {
  const { text } = lines;
  let end = to;
  let current = line;
  for (let i = 0; i <= contextLines; i++) {
    if (i > 0 && end === text.length) break;
    if (i > 0) current = lineAfter(lines, current);
    if (isLong(lines, current) && current.end - end > WINDOW)
      return characterEnd(text, end + WINDOW, current.end);
    end = current.end;
  }
  return end;
}

// the next two functions find a neighbouring line without Lines.at(), which would count newlines

function lineBefore({ text }: Lines, { start, number }: Line): Line {
  const before = start < 2 ? 0 : text.lastIndexOf(NEWLINE, start - 2) + 1;
  return { number: number - 1, start: before, end: start };
}

function lineAfter({ text }: Lines, { end, number }: Line): Line {
  const newline = text.indexOf(NEWLINE, end);
  return { number: number + 1, start: end, end: newline < 0 ? text.length : newline + 1 };
}

const isContinuation = (byte: number | undefined): boolean =>
  byte !== undefined && (byte & 0xc0) === 0x80;

/** Returns the start of the character that contains the byte at `at`. The start is at most three bytes before `at`. */
function characterStart(text: Uint8Array, at: number, least: number): number {
  for (let back = 0; back < 3 && at > least && isContinuation(text[at]); back++) at--;
  return at;
}

/** Returns the end of the character that contains the byte before `at`. The end is at most three bytes after `at`. */
function characterEnd(text: Uint8Array, at: number, most: number): number {
  for (let on = 0; on < 3 && at < most && isContinuation(text[at]); on++) at++;
  return at;
}
