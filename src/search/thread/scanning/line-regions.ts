/**
 * Finds parts of a blob that consist of whole lines. These are either the lines on certain pages, or the lines that
 * contain certain positions.
 */

import { hasBit, type Bitset } from "../../../base/bitset.ts";
import type { Arena } from "../../../kernel/arena.ts";
import type { Kernel } from "../../../kernel/kernel.ts";
import type { Window } from "../reading/window.ts";

const NEWLINE = 10;
/** The number of bytes that are read first to find the start or the end of a line. */
export const LINE_BYTES = 256;

/** The addresses from `from` up to, but not including, `to` in the kernel's memory. */
export type Stretch = readonly [from: number, to: number];

/**
 * Loads the lines that are on certain pages of a blob, entirely or in part. Returns the regions of these lines, which
 * are disjoint and in ascending order. If `pages` is undefined, the only region is the whole blob.
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
    // these pages are within a long line, which the last region contains already
    if (last && lowest + (page - first) * pageBytes <= last[1]) continue;
    const region = extend(window, blob, begin, page);
    if (last && region[0] <= last[1]) last[1] = Math.max(last[1], region[1]);
    else regions.push(region);
  }
  return regions;
}

/**
 * Returns the first page from `page` on that is in the set. If `isIn` is false, returns the first page that is not. If
 * there is no such page, returns `end`.
 */
function nextIn(pages: Bitset, page: number, end: number, isIn: boolean): number {
  while (page < end && hasBit(pages, page) !== isIn) page++;
  return page;
}

interface WindowBlob {
  readonly window: Window;
  readonly blob: number;
}

/** Loads the pages [begin, stop), and returns their region, extended to whole lines. */
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
  return [
    lineStart({ window, blob }, addressOf(begin), lowest),
    lineEnd({ window, blob }, addressOf(stop), limit),
  ];
}

/**
 * Returns the start of the line that contains `at`, and loads the line from there up to `at`.
 * REQUIRES: the byte before `at` is loaded.
 */
function lineStart({ window, blob }: WindowBlob, at: number, lowest: number): number {
  if (at === lowest || window.bytes[at - 1] === NEWLINE) return at;
  let from = at;
  for (let step = LINE_BYTES; from > lowest; step *= 2) {
    const before = Math.max(lowest, from - step);
    window.loadBytes(blob, before, from);
    const newline = window.bytes.subarray(before, from).lastIndexOf(NEWLINE);
    if (newline >= 0) return before + newline + 1;
    from = before;
  }
  return lowest;
}

/**
 * Returns the end of the line that contains the byte before `at`, and loads the rest of this line. The end is after the
 * line's newline.
 * REQUIRES: the byte before `at` is loaded.
 */
function lineEnd({ window, blob }: WindowBlob, at: number, limit: number): number {
  if (window.bytes[at - 1] === NEWLINE) return at;
  let to = at;
  for (let step = LINE_BYTES; to < limit; step *= 2) {
    const after = Math.min(limit, to + step);
    window.loadBytes(blob, to, after);
    const newline = window.bytes.subarray(to, after).indexOf(NEWLINE);
    if (newline >= 0) return to + newline + 1;
    to = after;
  }
  return limit;
}

/**
 * Returns the lines of the text [from, to) that contain at least one of the addresses in `places`. Adjacent lines are
 * joined into one region.
 * REQUIRES: `places` is in ascending order.
 */
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
