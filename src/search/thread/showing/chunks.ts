/**
 * Makes chunks from ranges. Each range is shown with its lines and `contextLines` more on each side; ranges that share
 * any of these lines share a chunk. If a line has more than LONG_LINE bytes, only WINDOW bytes on each side of a match
 * are shown. Otherwise a minified file could make the response a hundred times larger than its matches.
 */

import type { Pause } from "../../../base/yield.ts";
import { ChunkPacker, type PackedChunks } from "../../messages/packed-chunks.ts";
import type { Line, Lines } from "./positions.ts";
import type { ResultSymbol } from "../../messages/response.ts";

const NEWLINE = 10;
const LONG_LINE = 4096;
const WINDOW = 256;

/** The number of ranges after which a thread that yields checks the clock. */
const RANGES_PER_PAUSE = 64;

/**
 * How many lines with ranges are cut into chunks even if time is up. Otherwise a busy machine would show nothing. This
 * takes about 10 ms.
 */
const MOST_LATE = 4096;

/** What is needed to cut the ranges of a file. */
export interface Cutting {
  readonly contextLines: number;
  /** Returns the definition whose name contains a range, if any. */
  readonly symbolOf: (from: number, to: number) => ResultSymbol | undefined;
  /** Returns the definition around a line. Undefined if the request did not ask for definitions. */
  readonly enclosing: ((line: Line) => ResultSymbol | null) | undefined;
  /** Awaited regularly, because a file may have any number of ranges. */
  readonly pause: Pause;
  /** Whether time is up. If so, only the first ranges are cut. */
  readonly isStopped: () => boolean;
}

/** Makes the chunks. REQUIRES: the pairs (from, to) are ascending and do not overlap. */
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
 * Whether the lines shown around two lines surely overlap, because only few bytes are between the two. This is a quick
 * test: walking over 1 000 lines of context for each match would take seconds.
 */
const isNear = (a: Line, b: Line, contextLines: number): boolean =>
  b.end - a.start <= LONG_LINE && b.number - a.number <= 2 * contextLines;

/** Whether a range that begins at `from` is shown with bytes before `end`. */
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

// neighbouring lines are found without at(), which would count newlines for their numbers

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

/** Returns the start of the character that contains the byte at `at`, which is at most three bytes before. */
function characterStart(text: Uint8Array, at: number, least: number): number {
  for (let back = 0; back < 3 && at > least && isContinuation(text[at]); back++) at--;
  return at;
}

/** Returns the end of the character that contains the byte before `at`, which is at most three bytes later. */
function characterEnd(text: Uint8Array, at: number, most: number): number {
  for (let on = 0; on < 3 && at < most && isContinuation(text[at]); on++) at++;
  return at;
}
