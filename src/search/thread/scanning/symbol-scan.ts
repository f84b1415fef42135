/**
 * Matches an expression against the names of definitions, for `sym:`. Each name is a separate text.
 *
 * Names are part of the content. The posting lists of names tell which pages may have a name that contains an anchor,
 * which is a required literal of the expression. First, these pages of all blobs are searched for anchors. Next, the
 * definitions of the blobs that contain an anchor are read. The expression runs only on names that overlap an anchor,
 * which are a hundredth of all names. Reading both the text and the definitions of one blob after another would take
 * 1.5 times as long, because each evicts the cached blocks of the other.
 */

import { hasBit, type Bitset } from "../../../base/bitset.ts";
import { newRangeList, pushRange, type RangeList } from "../../../regex/range-list.ts";
import { corrupt } from "../../../store/format/sealed.ts";
import type { ExpressionReach, PlacedExpression } from "../planning/expression-plan.ts";
import { placesOf } from "./expression-scan.ts";
import type { Confirm } from "./file-ranges.ts";
import type { Stretch } from "./line-regions.ts";
import { bestEdge, noneFound, type Found } from "../reading/literal-scanner.ts";
import type { SegmentSymbols } from "../reading/segment-symbols.ts";
import type { SearchTools } from "../reading/thread-tools.ts";
import type { Window } from "../reading/window.ts";

/**
 * The number of names that are tried between two checks of the clock. RE2 takes 4 µs to confirm each name that is
 * shown.
 */
export const NAMES_A_LOOK = 512;

export interface SymbolScan {
  readonly placed: PlacedExpression;
  readonly reach: ExpressionReach;
  readonly window: Window;
  readonly blobs: readonly number[];
  readonly symbols: SegmentSymbols;
  readonly tools: SearchTools;
  readonly confirm?: Confirm | undefined;
}

export async function scanSymbols(scan: SymbolScan): Promise<Found> {
  const { window, blobs, tools } = scan;
  const found = noneFound(blobs.length);
  const out = newRangeList();
  const places = await anchorPlaces(scan);
  const reach = Math.max(0, ...(scan.reach.anchors ?? []).map(({ literal }) => literal.longest));
  let next = 0;
  for (let index = 0; index < blobs.length; index++) {
    const blob = blobs[index]!;
    found.starts[index] = out.length;
    const first = next;
    const limit = window.address(blob) + window.length(blob);
    if (places) while (next < places.length && places[next]! < limit) next++;
    const own = places?.subarray(first, next);
    if (own?.length === 0) continue;
    const names = namesAt(scan, blob, own, reach);
    if (names.length === 0) continue;
    await matchNames(scan, { blob, names }, out);
    found.counts[index] = out.length - found.starts[index]!;
    const ranges = out.data.subarray(2 * found.starts[index]!, 2 * out.length);
    found.edges[index] = bestEdge(ranges, [window.address(blob), limit], tools);
  }
  found.pairs = out.data.slice(0, 2 * out.length);
  return found;
}

interface NamesOf {
  readonly blob: number;
  /** The start and the end of each name, as offsets in the blob. */
  readonly names: Uint32Array;
}

/**
 * Returns the names of a blob that overlap an anchor. `places` contains the addresses at which anchors begin. If it is
 * undefined, returns all names. `reach` is the maximum length of an anchor in bytes. The search for anchors finds no
 * overlapping ones, so an anchor that begins before a name can hide another anchor within the name.
 */
function namesAt(
  { window, symbols, tools }: SymbolScan,
  blob: number,
  places: Uint32Array | undefined,
  reach: number,
): Uint32Array {
  const { kernel, arena } = tools;
  const mark = arena.mark();
  const run = symbols.run(blob);
  const at = arena.put(run);
  const list = arena.take(places?.byteLength ?? 0);
  if (places) kernel.words.set(places, list >>> 2);
  const out = arena.take(8 * Math.ceil(run.length / 3));
  const count = kernel.run.namesAt(
    at,
    at + run.length,
    list,
    list + (places?.byteLength ?? 0),
    window.address(blob),
    reach,
    window.length(blob),
    out,
  );
  if (count < 0) throw corrupt("a run of symbols");
  const names = kernel.words.slice(out >>> 2, (out >>> 2) + 2 * count);
  arena.release(mark);
  return names;
}

/**
 * Appends to `out` the ranges in the names of a blob, as offsets from the start of the blob. If the search is stopped,
 * appends only the first ranges.
 */
async function matchNames(
  scan: SymbolScan,
  { blob, names }: NamesOf,
  out: RangeList,
): Promise<void> {
  const { placed, window, tools } = scan;
  const origin = window.address(blob);
  let last = -1;
  for (let at = 0; at < names.length; at += 2) {
    if (at % (2 * NAMES_A_LOOK) === 0) {
      if (tools.isStopped()) return;
      await tools.pause();
    }
    const [start, end] = [names[at]!, names[at + 1]!];
    loadName(scan, blob, start, end);
    const first = out.length;
    placed.matcher.ranges(origin + start, origin + end, out, { budget: tools.isStopped });
    confirmNew(scan, out, { first, name: [origin + start, origin + end] });
    last = keepNew(out, { first, by: start, last });
  }
}

/** Makes RE2 confirm the ranges of `out` with numbers from `first` on. All of these ranges are in one name. */
function confirmNew(
  { placed, window, confirm }: SymbolScan,
  out: RangeList,
  { first, name }: { readonly first: number; readonly name: Stretch },
): void {
  if (!confirm || out.length === first) return;
  const claimed = { data: out.data.slice(2 * first, 2 * out.length), length: out.length - first };
  const { data, length } = confirm(placed.expression, window.bytes.subarray(...name), claimed);
  out.length = first;
  for (let i = 0; i < length; i++) pushRange(out, data[2 * i]!, data[2 * i + 1]!);
}

/**
 * Loads the pages of a name, unless they are loaded already. A name may begin or end on a page without an anchor, which
 * was not loaded yet.
 */
function loadName({ window, reach }: SymbolScan, blob: number, start: number, end: number): void {
  const { firstPages, pageBytes } = window.reader;
  const first = firstPages[blob]! + Math.floor(start / pageBytes);
  const last = firstPages[blob]! + Math.floor((end - 1) / pageBytes);
  const { anchors, pages } = reach;
  if (!anchors || !pages || (hasBit(pages, first) && hasBit(pages, last))) return;
  window.load(blob, first, last + 1, 1);
}

/**
 * Adds `by` to the ranges of `out` with numbers from `first` on, so that they are offsets in the blob instead of a
 * name. Drops each range that overlaps a range in an enclosing name. `last` is the end of the range before `first`.
 * Returns the end of the last range that was kept.
 */
function keepNew(out: RangeList, { first, by, last }: { first: number; by: number; last: number }) {
  let kept = first;
  let end = last;
  for (let i = first; i < out.length; i++) {
    const [from, to] = [out.data[2 * i]! + by, out.data[2 * i + 1]! + by];
    if (from < end || (from === to && from === end)) continue;
    out.data[2 * kept] = from;
    out.data[2 * kept + 1] = to;
    kept++;
    end = to;
  }
  out.length = kept;
  return end;
}

/**
 * Returns the addresses at which an anchor begins, in ascending order. Returns undefined if there are no anchors to
 * search for. Loads the pages that may contain a match.
 */
async function anchorPlaces({
  reach,
  window,
  blobs,
  tools,
}: SymbolScan): Promise<Uint32Array | undefined> {
  const { anchors } = reach;
  const beyond = Math.max(1, ...(anchors ?? []).map(({ literal }) => literal.longest));
  const pages = anchors && reach.pages;
  window.readAhead(blobs, pages, beyond);
  const regions = blobs.map((blob) => loadPages(window, blob, pages, beyond));
  return anchors && placesOf(anchors, { window, blobs, regions }, tools);
}

/**
 * Loads those pages of a blob that are in `pages`, or all pages if `pages` is undefined. Also loads `beyond` bytes
 * after them. Returns the regions that were loaded.
 */
function loadPages(
  window: Window,
  blob: number,
  pages: Bitset | undefined,
  beyond: number,
): Stretch[] {
  const { firstPages, pageBytes } = window.reader;
  const [first, end] = [firstPages[blob]!, firstPages[blob + 1]!];
  const address = window.address(blob);
  const limit = address + window.length(blob);
  const stretches: Stretch[] = [];
  for (let page = first; page < end;) {
    const from = page;
    while (page < end && (!pages || hasBit(pages, page))) page++;
    if (page > from) {
      window.load(blob, from, page, beyond);
      const to = address + (page - first) * pageBytes + beyond;
      stretches.push([address + (from - first) * pageBytes, Math.min(limit, to)]);
    } else page++;
  }
  return stretches;
}
