/**
 * Shows a file: finds its first matches again, cuts the lines around them into chunks, and finds the definitions whose
 * names contain a match. Does what src/search/thread/showing does for any query, in the same form, but only for texts in
 * which this is simple: those without long lines and, where columns are counted, without invalid UTF-8. job.ts describes
 * the result.
 */

import { decode, decodedLength } from "./folding";
import * as J from "../job";
import { nth, u } from "./plan";
import { brokenRun, findIn, mayFold, readRun, readText } from "./search";
import { countNewlines, endOfLine, startOfLine } from "./text";

/** A line of more bytes is not shown completely; see showing/chunks.ts. */
const LONG_LINE: usize = 4096;
/** As in reading/segment-symbols.ts. */
const MOST_NESTED: i32 = 4;
/** The number of kinds of definitions (SYMBOL_KINDS). */
const KINDS: u32 = 29;
const NO_CODE_POINT: u32 = 0x110000;

/** Set if the text is not simple. */
let isOdd: bool = false;

/**
 * Shows the matches from number `skip` on, at most `most`. Returns 1, or 0 if the text is not simple, or if it has no such
 * match.
 * REQUIRES: the blob has at most MOST_SHOWN bytes, `most` is at most MOST_RANGES, and skip + most at most MOST_PAIRS.
 */
export function showLiteral(job: usize, plan: usize, blob: u32, skip: u32, most: u32, contextLines: u32): u32 {
  const start = nth(u(plan, J.BLOB_STARTS), blob);
  const end = nth(u(plan, J.BLOB_STARTS), blob + 1);
  const text = u(job, J.WINDOW);
  const limit = text + <usize>(end - start);
  readText(start, end, text);
  const pairs = u(job, J.PAIRS);
  const count = findFirst(job, text, limit, skip + most, mayFold(job, plan, blob));
  if (count <= skip) return 0;
  const definitions = readDefinitions(job, plan, blob, end - start);
  if (definitions < 0) return 0;
  isOdd = false;
  const stop = pairs + (<usize>min(count, skip + most) << 3);
  cutChunks(job, text, limit, pairs + (<usize>skip << 3), stop, contextLines, definitions);
  return <u32>!isOdd;
}

/** Writes at least the first `wanted` matches to the pairs, if there are so many. Returns the number of pairs. */
function findFirst(job: usize, text: usize, limit: usize, wanted: u32, folds: bool): u32 {
  const pairs = u(job, J.PAIRS);
  let to = pairs;
  let floor: usize = 0;
  for (let from = text; from < limit && <u32>((to - pairs) >> 3) < wanted; from += J.GROUP_BYTES) {
    const found = findIn(job, from, min(limit, from + J.GROUP_BYTES), text, limit, folds, floor, to);
    to += <usize>found << 3;
    if (found > 0) floor = u(to - 4, 0);
  }
  return <u32>((to - pairs) >> 3);
}

function cutChunks(
  job: usize,
  text: usize,
  limit: usize,
  first: usize,
  stop: usize,
  contextLines: u32,
  definitions: i32,
): void {
  const shown = u(job, J.SHOWN);
  let chunk = shown;
  let range = shown + J.SHOWN_RANGES;
  let symbol = shown + J.SHOWN_SYMBOLS;
  let out = shown + J.SHOWN_TEXT;
  let line: u32 = 1; // of the byte before `counted`, or of the byte at `counted` if that is not a newline's successor
  let counted = text;
  for (let pair = first; pair < stop; ) {
    let from = u(pair, 0);
    line += countNewlines(counted, from);
    counted = from;
    let lineStart = startOfLine(from, text);
    let begin = lineStart;
    let before: u32 = 0;
    for (; before < contextLines && begin > text; before++) {
      const previous = startOfLine(begin - 1, text);
      checkLine(previous, begin);
      begin = previous;
    }
    store<u32>(chunk, <u32>(begin - text), 8);
    store<u32>(chunk, line - before, 12);
    store<u32>(chunk, 1, 16);
    let ranges: u32 = 0;
    let end: usize = 0;
    for (;;) {
      const to = u(pair, 4);
      checkLine(lineStart, endOfLine(from, limit));
      range = putPosition(range, text, from, line, lineStart);
      line += countNewlines(from, to - 1);
      counted = to - 1;
      if (to - 1 > from) lineStart = startOfLine(to - 1, text);
      end = endOfLine(to - 1, limit);
      checkLine(lineStart, end);
      range = putPosition(range, text, to, line, lineStart);
      symbol = putSymbol(symbol, job, <u32>((chunk - shown) / 20), <u32>(from - text), <u32>(to - text), definitions);
      ranges++;
      pair += 8;
      if (isOdd) return;
      if (pair == stop) break;
      from = u(pair, 0);
      const newlines = countNewlines(counted, from);
      if (newlines > 2 * contextLines) break;
      line += newlines;
      counted = from;
      lineStart = startOfLine(from, text);
    }
    for (let after: u32 = 0; after < contextLines && end < limit; after++) {
      const next = endOfLine(end, limit);
      checkLine(end, next);
      end = next;
    }
    if (isOdd) return;
    memory.copy(out, begin, end - begin);
    out += end - begin;
    store<u32>(chunk, <u32>(end - begin));
    store<u32>(chunk, ranges, 4);
    chunk += 20;
  }
  store<u32>(job, <u32>((chunk - shown) / 20), J.CHUNKS_SHOWN);
  store<u32>(job, <u32>((symbol - shown - J.SHOWN_SYMBOLS) / (4 * J.SYMBOL_WORDS)), J.SYMBOLS_SHOWN);
  store<u32>(job, <u32>(out - shown - J.SHOWN_TEXT), J.TEXT_SHOWN);
}

/** Notes that the text is odd if the line [start, end), which may end with a newline, is long. */
@inline
function checkLine(start: usize, end: usize): void {
  if (end - start > LONG_LINE && end - start - <usize>(load<u8>(end - 1) == 10) > LONG_LINE) isOdd = true;
}

/** Writes the position of a byte: its offset, its line, and its column in code points. */
function putPosition(out: usize, text: usize, at: usize, line: u32, lineStart: usize): usize {
  let column: u32 = 1;
  for (let place = lineStart; place < at; place += decodedLength) {
    if (decode(place, at) >= NO_CODE_POINT) isOdd = true;
    column++;
  }
  store<u32>(out, <u32>(at - text));
  store<u32>(out, line, 4);
  store<u32>(out, column, 8);
  return out + 12;
}

// ── definitions ──

/** The address that varint() reads next, and the end of the run. */
let cursor: usize = 0;
let runEnd: usize = 0;
let isBroken: bool = false;

/** As in symbol-run.ts. */
function varint(): i32 {
  let value: i32 = 0;
  for (let shift: u32 = 0; shift < 35; shift += 7) {
    if (cursor >= runEnd) break;
    const byte = <u32>load<u8>(cursor++);
    value |= (byte & 127) << shift;
    if (byte < 128) return value;
  }
  isBroken = true;
  return 0;
}

/**
 * Decodes the definitions of a blob to rows (start, end, kind, parent), as decodeSymbols() does. Returns their number, or
 * -1 if there are too many.
 */
function readDefinitions(job: usize, plan: usize, blob: u32, textBytes: u32): i32 {
  const starts = u(plan, J.SYMBOL_STARTS);
  if (starts == 0 || nth(starts, blob) == nth(starts, blob + 1)) return 0;
  readRun(blob);
  cursor = u(job, J.RUN);
  runEnd = cursor + u(job, J.RUN_BYTES);
  isBroken = false;
  const count = varint();
  const total = count + varint();
  if (count < 0 || total < count || <u32>total > load<u32>(job, J.RUN_BYTES) / 3) brokenRun();
  if (total > J.MOST_DEFINITIONS) return -1;
  decodeRun(u(job, J.DEFINITIONS), count, total, <i32>textBytes);
  if (isBroken || cursor != runEnd) brokenRun();
  return count;
}

function decodeRun(rows: usize, count: i32, total: i32, textBytes: i32): void {
  let start: i32 = -1;
  let parent: i32 = -1;
  for (let row: i32 = 0; row < total; row++, rows += J.DEFINITION_BYTES) {
    start = row < count ? start + varint() + 1 : varint();
    const end = start + varint();
    let kind = <u32>varint();
    if (row < count) {
      const form = kind & 3;
      kind >>= 2;
      if (form == 0) parent = -1;
      else if (form == 2) parent = row - 1;
      else if (form == 3) {
        const value = <u32>varint();
        const half = value >> 1;
        parent = value & 1 ? count + <i32>half : row + (<i32>(half >> 1) ^ -(<i32>(half & 1)));
      }
    } else parent = -1;
    if (start < 0 || end < start || end > textBytes || kind >= KINDS) isBroken = true;
    if (parent < -1 || parent >= total) isBroken = true;
    store<i32>(rows, start);
    store<i32>(rows, end, 4);
    store<u32>(rows, kind, 8);
    store<i32>(rows, parent, 12);
  }
}

/** Writes the definition whose name contains [from, to), if there is one. */
function putSymbol(out: usize, job: usize, chunk: u32, from: u32, to: u32, count: i32): usize {
  const rows = u(job, J.DEFINITIONS);
  let low: i32 = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (load<u32>(rows + (<usize>middle << 4)) > from) high = middle;
    else low = middle + 1;
  }
  const last = low - 1;
  for (let row = last; row >= 0 && row > last - MOST_NESTED; row--) {
    const at = rows + (<usize>row << 4);
    if (to > load<u32>(at, 4)) continue;
    store<u32>(out, chunk);
    putName(out + 4, at);
    const parent = load<i32>(at, 12);
    if (parent < 0) store<u32>(out, 0, 20);
    else putName(out + 16, rows + (<usize>parent << 4));
    return out + 4 * J.SYMBOL_WORDS;
  }
  return out;
}

@inline
function putName(out: usize, row: usize): void {
  store<u64>(out, load<u64>(row));
  store<u32>(out, load<u32>(row, 8), 8);
}
