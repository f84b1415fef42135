/**
 * Searches the chunks of a plan: reads candidate pages, finds the literal on them, and counts and rates the files with
 * matches. No object is created for any of them. job.ts describes the memory.
 */

import { bestDefinition } from "./definitions";
import * as J from "../job";
import { hasBit, nextBit, nth, u } from "./plan";
import { rateFiles } from "./rate";
import { scanFolded, scanLiteral } from "./scan";

/** Reads the bytes [from, to) of the segment's text to an address, and verifies them. Throws if they are damaged. */
@external("env", "readText")
export declare function readText(from: u32, to: u32, at: usize): void;

/** Reads the run of a blob's definitions to the address at RUN, which it may change. Throws if the run is damaged. */
@external("env", "readRun")
export declare function readRun(blob: u32): void;

/** Returns 1 once the search was stopped. */
@external("env", "isStopped")
declare function isStopped(): u32;

/** Called if definitions violate the format. Throws. */
@external("env", "brokenRun")
export declare function brokenRun(): void;

/** A run of text: one of a blob's stretches of candidate pages. The scan writes its matches and edge (scan.ts). */
const RUN_COUNT: usize = 16;
const RUN_EDGE: usize = 20;

// what has been found in the current blob
let count: u32 = 0;
let edge: u32 = 0;
let definition: i32 = 0;
/** The end of the last match, and that of the pairs. */
let floor: usize = 0;
let pairsEnd: usize = 0;

// the current stretch of neighbouring candidate pages of a blob, as offsets in the segment's text; set by nextStretch()
let stretchFrom: u32 = 0;
let stretchTo: u32 = 0;

/** Searches a chunk. Returns early if the search was stopped. */
export function searchLiteral(job: usize, plan: usize, chunk: u32): void {
  const bits = u(plan, J.BITS);
  const starts = u(plan, J.BLOB_STARTS);
  const firstPages = u(plan, J.FIRST_PAGES);
  const pageBlobs = u(plan, J.PAGE_BLOBS);
  const window = u(job, J.WINDOW);
  const at = u(plan, J.CHUNKS) + (<usize>chunk << 3);
  const end = load<u32>(at, 4);
  for (let page = load<u32>(at); page < end; ) {
    if (isStopped() != 0) return;
    const first = nth(pageBlobs, page);
    const origin = nth(starts, first);
    if (nth(starts, first + 1) - origin > <u32>J.GROUP_BYTES) {
      searchLong(job, plan, first);
      page = nextBit(bits, nth(firstPages, first + 1), end);
      continue;
    }
    // a group of blobs, which lie in the window at their distances in the segment
    let stop: u32 = 0;
    let next = page;
    do {
      stop = nth(firstPages, nth(pageBlobs, next) + 1);
      next = nextBit(bits, stop, end);
    } while (next < end && nth(starts, nth(pageBlobs, next) + 1) - origin <= <u32>J.GROUP_BYTES);
    const base = window - <usize>origin; // the address of the segment's text, as far as it is read
    readGroup(job, plan, page, stop, base);
    while (page < stop) {
      const blob = nth(pageBlobs, page);
      searchBlob(job, plan, blob, base);
      page = nextBit(bits, nth(firstPages, blob + 1), stop);
    }
    page = next;
  }
}

/**
 * Finds the first stretch of a blob's candidate pages at or after `page`. Returns the page after it, or `page` if there is
 * none.
 */
function nextStretch(plan: usize, blob: u32, page: u32): u32 {
  const bits = u(plan, J.BITS);
  const first = nth(u(plan, J.FIRST_PAGES), blob);
  const end = nth(u(plan, J.FIRST_PAGES), blob + 1);
  const from = nextBit(bits, page, end);
  if (from == end) return page;
  let to = from + 1;
  while (to < end && hasBit(bits, to)) to++;
  const start = nth(u(plan, J.BLOB_STARTS), blob);
  const pageBytes = load<u32>(plan, J.PAGE_BYTES);
  stretchFrom = start + (from - first) * pageBytes;
  stretchTo = min(nth(u(plan, J.BLOB_STARTS), blob + 1), start + (to - first) * pageBytes);
  return to;
}

/** The bytes of a stretch that are read: a match and its edges may need a byte before it, and LONGEST after it. */
@inline
function readFrom(from: u32, start: u32): u32 {
  return from > start ? from - 1 : from;
}
@inline
function readTo(job: usize, to: u32, end: u32): u32 {
  return min(end, to + load<u32>(job, J.LONGEST));
}

/**
 * Reads the stretches of the blobs with pages in [page, stop). Stretches that are at most a page apart are read together,
 * because a read takes as long as copying a page.
 */
function readGroup(job: usize, plan: usize, page: u32, stop: u32, base: usize): void {
  const starts = u(plan, J.BLOB_STARTS);
  let from: u32 = 0;
  let to: u32 = 0;
  let bytes: u32 = 0;
  while (page < stop) {
    const blob = nth(u(plan, J.PAGE_BLOBS), page);
    for (let next = nextStretch(plan, blob, page); next != page; next = nextStretch(plan, blob, page)) {
      page = next;
      const begin = readFrom(stretchFrom, nth(starts, blob));
      const end = readTo(job, stretchTo, nth(starts, blob + 1));
      bytes += end - begin;
      if (to != 0 && begin <= to + load<u32>(plan, J.PAGE_BYTES)) to = max(to, end);
      else {
        if (to != 0) readText(from, to, base + <usize>from);
        from = begin;
        to = end;
      }
    }
    page = nextBit(u(plan, J.BITS), nth(u(plan, J.FIRST_PAGES), blob + 1), stop);
  }
  readText(from, to, base + <usize>from);
  store<u32>(job, load<u32>(job, J.TEXT_BYTES) + bytes, J.TEXT_BYTES);
}

@inline
function beginBlob(): void {
  count = 0;
  edge = 0;
  definition = 0;
  floor = 0;
}

/** Searches a blob whose stretches are read. `base` is the address of the segment's text. */
function searchBlob(job: usize, plan: usize, blob: u32, base: usize): void {
  beginBlob();
  const lowest = base + <usize>nth(u(plan, J.BLOB_STARTS), blob);
  const limit = base + <usize>nth(u(plan, J.BLOB_STARTS), blob + 1);
  const folds = mayFold(job, plan, blob);
  pairsEnd = u(job, J.PAIRS);
  let page = nth(u(plan, J.FIRST_PAGES), blob);
  for (let next = nextStretch(plan, blob, page); next != page; next = nextStretch(plan, blob, page)) {
    scan(job, base + <usize>stretchFrom, base + <usize>stretchTo, lowest, limit, folds);
    page = next;
  }
  if (count > 0) rateDefinitions(job, plan, blob, lowest, limit);
  rateFiles(job, plan, blob, count, edge, definition);
}

/** Searches a blob that is longer than a group, piece by piece. */
function searchLong(job: usize, plan: usize, blob: u32): void {
  beginBlob();
  const start = nth(u(plan, J.BLOB_STARTS), blob);
  const end = nth(u(plan, J.BLOB_STARTS), blob + 1);
  const folds = mayFold(job, plan, blob);
  let page = nth(u(plan, J.FIRST_PAGES), blob);
  let last: u32 = start; // the end of the last match, as an offset in the segment's text
  for (let next = nextStretch(plan, blob, page); next != page; next = nextStretch(plan, blob, page)) {
    page = next;
    const bytes = readTo(job, stretchTo, end) - readFrom(stretchFrom, start);
    store<u32>(job, load<u32>(job, J.TEXT_BYTES) + bytes, J.TEXT_BYTES);
    for (let from = stretchFrom; from < stretchTo; ) {
      if (isStopped() != 0) return;
      const to = min(stretchTo, from + <u32>J.GROUP_BYTES);
      const first = readFrom(from, start);
      const base = u(job, J.WINDOW) - <usize>first;
      readText(first, readTo(job, to, end), base + <usize>first);
      pairsEnd = u(job, J.PAIRS);
      floor = base + <usize>max(from, last);
      scan(job, base + <usize>from, base + <usize>to, base + <usize>start, base + <usize>end, folds);
      if (pairsEnd > u(job, J.PAIRS)) {
        last = <u32>(floor - base);
        rateDefinitions(job, plan, blob, base + <usize>start, base + <usize>end);
      }
      from = to;
    }
  }
  rateFiles(job, plan, blob, count, edge, definition);
}

/** Finds the matches that begin in [from, to), and appends them to the pairs. */
function scan(job: usize, from: usize, to: usize, lowest: usize, limit: usize, folds: bool): void {
  const found = findIn(job, from, to, lowest, limit, folds, floor, pairsEnd);
  if (found == 0) return;
  count += found;
  edge = max(edge, load<u32>(job + J.TEXT_RUN, RUN_EDGE));
  pairsEnd += <usize>found << 3;
  floor = u(pairsEnd - 4, 0);
}

/** Writes the matches that begin in [from, to), and not before `floor`, to `out`. Returns their number. */
export function findIn(
  job: usize,
  from: usize,
  to: usize,
  lowest: usize,
  limit: usize,
  folds: bool,
  floor: usize,
  out: usize,
): u32 {
  const run = job + J.TEXT_RUN;
  store<u32>(run, <u32>from);
  store<u32>(run, <u32>to, 4);
  store<u32>(run, <u32>limit, 8);
  store<u32>(run, <u32>lowest, 12);
  const length = u(job, J.LENGTH);
  if (folds && hasPartner(from, min(limit, to + u(job, J.LONGEST))))
    return scanFolded(run, 1, job + J.POINTS, length, job + J.LEADS, u(job, J.FOLDING), floor, out);
  return scanLiteral(run, 1, job + J.BYTES, job + J.MASKS, length, u(job, J.FIRST), u(job, J.SECOND), floor, out);
}

/** Returns whether a character beyond ASCII may match a letter of the literal somewhere in the blob. */
export function mayFold(job: usize, plan: usize, blob: u32): bool {
  if (load<u32>(job, J.IS_FOLDED) == 0) return false;
  const firstPages = u(plan, J.FIRST_PAGES);
  const end = nth(firstPages, blob + 1);
  return nextBit(u(plan, J.FOLDS), nth(firstPages, blob), end) < end;
}

/** Returns whether U+017F (C5 BF) or U+212A (E2 84 AA) is in [from, to), or begins there. */
function hasPartner(from: usize, to: usize): bool {
  for (let at = from; at < to; at += 16) {
    const text = v128.load(at);
    const next = v128.load(at, 1);
    const long = v128.and(i8x16.eq(text, i8x16.splat(<i8>0xc5)), i8x16.eq(next, i8x16.splat(<i8>0xbf)));
    const kelvin = v128.and(i8x16.eq(text, i8x16.splat(<i8>0xe2)), i8x16.eq(next, i8x16.splat(<i8>0x84)));
    if (v128.any_true(v128.or(long, kelvin))) return true;
  }
  return false;
}

/** Rates the pairs, which are addresses, by the definitions of their blob. Leaves the pairs relative to the blob. */
function rateDefinitions(job: usize, plan: usize, blob: u32, lowest: usize, limit: usize): void {
  const starts = u(plan, J.SYMBOL_STARTS);
  if (load<u32>(job, J.IS_RANKED) == 0 || starts == 0 || nth(starts, blob) == nth(starts, blob + 1)) return;
  if (!mayBeNamed(plan, blob)) return;
  readRun(blob);
  const pairs = u(job, J.PAIRS);
  for (let at = pairs; at < pairsEnd; at += 4) store<u32>(at, load<u32>(at) - <u32>lowest);
  const run = u(job, J.RUN);
  const length = <u32>(limit - lowest);
  const fit = bestDefinition(run, run + u(job, J.RUN_BYTES), pairs, pairsEnd, lowest, length);
  if (fit < 0) brokenRun();
  definition = max(definition, fit);
}

function mayBeNamed(plan: usize, blob: u32): bool {
  if (load<u32>(plan, J.IS_NAMED) == 0) return true;
  const firstPages = u(plan, J.FIRST_PAGES);
  const end = nth(firstPages, blob + 1);
  return nextBit(u(plan, J.NAMED), nth(firstPages, blob), end) < end;
}
