/** Finds parts of a blob that consist of whole lines: the lines of some pages, or the lines around some places. */

import { hasBit, type Bitset } from "../../../base/bitset.ts";
import type { Arena } from "../../../kernel/arena.ts";
import type { Kernel } from "../../../kernel/kernel.ts";
import type { Window } from "../reading/window.ts";

const NEWLINE = 10;
/** How many bytes are read first to find the end of a line. */
const LINE_BYTES = 256;

/** The addresses from `from` up to, but not including, `to` in the kernel's memory. */
export type Stretch = readonly [from: number, to: number];

/**
 * Loads the regions and returns them, as ascending, disjoint addresses [from, to). Without pages, the region is the
 * whole blob.
 */
export function regionsOf(
  window: Window,
  blob: number,
  pages: Bitset | undefined,
): readonly Stretch[] {
  const { firstPages, pageBytes } = window.reader;
  const [first, end] = [firstPages[blob]!, firstPages[blob + 1]!];
  const lowest = window.address(blob);
  const whole = [lowest, lowest + window.length(blob)] as const;
  if (!pages || end - first <= 1) {
    window.load(blob, first, end, 0);
    return [whole];
  }
  const regions: [from: number, to: number][] = [];
  for (let page = first; page < end;) {
    const begin = nextIn(pages, page, end, true);
    page = nextIn(pages, begin, end, false);
    if (begin === page) break;
    const last = regions.at(-1);
    // a long line of an earlier page extends over this one
    if (last && lowest + (page - first) * pageBytes <= last[1]) continue;
    const region = extend(window, blob, begin, page);
    if (last && region[0] <= last[1]) last[1] = Math.max(last[1], region[1]);
    else regions.push(region);
  }
  return regions;
}

/** Returns the first page from `page` on that is in the set. If `isIn` is false, returns the first that is not. */
function nextIn(pages: Bitset, page: number, end: number, isIn: boolean): number {
  while (page < end && hasBit(pages, page) !== isIn) page++;
  return page;
}

/** Returns pages [begin, stop), extended to whole lines. */
function extend(
  window: Window,
  blob: number,
  begin: number,
  stop: number,
): [from: number, to: number] {
  const { firstPages, pageBytes } = window.reader;
  const lowest = window.address(blob);
  const limit = lowest + window.length(blob);
  const addressOf = (page: number) =>
    Math.min(limit, lowest + (page - firstPages[blob]!) * pageBytes);
  window.load(blob, begin, stop, 0);
  return [lineStart(window, addressOf(begin), lowest), lineEnd(window, addressOf(stop), limit)];
}

/** Returns the start of the line that contains `at`, and loads it. REQUIRES: the byte before is loaded. */
function lineStart(window: Window, at: number, lowest: number): number {
  if (at === lowest || window.bytes[at - 1] === NEWLINE) return at;
  let from = at;
  for (let step = LINE_BYTES; from > lowest; step *= 2) {
    const before = Math.max(lowest, from - step);
    window.loadBytes(before, from);
    const newline = window.bytes.subarray(before, from).lastIndexOf(NEWLINE);
    if (newline >= 0) return before + newline + 1;
    from = before;
  }
  return lowest;
}

/**
 * Returns the end of the line that contains `at`, after its newline, and loads it. REQUIRES: the byte before it is
 * loaded.
 */
function lineEnd(window: Window, at: number, limit: number): number {
  if (window.bytes[at - 1] === NEWLINE) return at;
  let to = at;
  for (let step = LINE_BYTES; to < limit; step *= 2) {
    const after = Math.min(limit, to + step);
    window.loadBytes(to, after);
    const newline = window.bytes.subarray(to, after).indexOf(NEWLINE);
    if (newline >= 0) return to + newline + 1;
    to = after;
  }
  return limit;
}

/** Returns the lines of a text that contain one of the ascending places. Adjacent lines become one region. */
export function linesAround(
  { kernel, arena }: { readonly kernel: Kernel; readonly arena: Arena },
  [from, to]: Stretch,
  places: Uint32Array,
): Stretch[] {
  const mark = arena.mark();
  const at = arena.put(new Uint8Array(places.buffer));
  const out = arena.take(8 * places.length);
  const count = kernel.run.linesAround(at, places.length, from, to, out);
  const { words } = kernel;
  const lines = Array.from({ length: count }, (_, i): Stretch => {
    const word = (out >>> 2) + 2 * i;
    return [words[word]!, words[word + 1]!];
  });
  arena.release(mark);
  return lines;
}
