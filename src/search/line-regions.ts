/** Stretches of a blob in whole lines: those of some of its pages, and those around some places. */

import { hasBit, type Bitset } from "../base/bitset.ts";
import type { Arena } from "../kernel/arena.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { PAGE_BYTES } from "../store/format.ts";
import type { Window } from "./window.ts";

const NEWLINE = 10;

/** In addresses. */
export type Stretch = readonly [from: number, to: number];

/** Loads what it returns: addresses [from, to), ascending, apart. Without pages the whole blob. */
export function regionsOf(
  window: Window,
  blob: number,
  pages: Bitset | undefined,
): readonly Stretch[] {
  const { firstPages } = window.reader;
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
    const region = extend(window, blob, begin, page);
    const last = regions.at(-1);
    if (last && region[0] <= last[1]) last[1] = Math.max(last[1], region[1]);
    else regions.push(region);
  }
  return regions;
}

/** The first page at or after `page` that is in the set, or is not. */
function nextIn(...[pages, page, end, isIn]: [Bitset, number, number, boolean]): number {
  while (page < end && hasBit(pages, page) !== isIn) page++;
  return page;
}

/** Pages [begin, stop) with the rest of their first and last lines. */
function extend(
  ...[window, blob, begin, stop]: [Window, number, number, number]
): [from: number, to: number] {
  const { firstPages } = window.reader;
  const [first, end] = [firstPages[blob]!, firstPages[blob + 1]!];
  const lowest = window.address(blob);
  const limit = lowest + window.length(blob);
  const addressOf = (page: number) => Math.min(limit, lowest + (page - first) * PAGE_BYTES);
  window.load(blob, begin, stop, 0);
  let from = addressOf(begin);
  let lead = begin;
  while (from > lowest && window.bytes[from - 1] !== NEWLINE) {
    if (addressOf(lead) === from) window.load(blob, --lead, lead + 1, 0);
    const newline = window.bytes.subarray(addressOf(lead), from).lastIndexOf(NEWLINE);
    from = addressOf(lead) + newline + 1;
    if (newline >= 0) break;
  }
  let to = addressOf(stop);
  let tail = stop;
  while (to < limit && window.bytes[to - 1] !== NEWLINE) {
    if (addressOf(tail) === to && tail < end) window.load(blob, tail, ++tail, 0);
    const newline = window.bytes.subarray(to, addressOf(tail)).indexOf(NEWLINE);
    to = newline < 0 ? addressOf(tail) : to + newline + 1;
    if (newline >= 0) break;
  }
  return [from, to];
}

/** The lines of a text that hold some places, which are ascending; neighbouring lines are one stretch. */
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
