/**
 * `sym:`: an expression over the names of definitions, each a text of its own. Names are content, so
 * what the expression requires is looked for in the content first, and only names in which it begins
 * are tried: a hundred times fewer than there are.
 */

import { intersect } from "../base/bitset.ts";
import { newRangeList, type RangeList } from "../regex/range-list.ts";
import { SYMBOL_ROW, type SymbolList } from "../store/symbol-run.ts";
import type { ContentScanner, ExpressionCandidates, ExpressionReach } from "./expression.ts";
import type { Lookup } from "./candidates.ts";
import { foldsIn, noneFound, type Found } from "./scan.ts";
import type { SegmentSymbols } from "./segment-symbols.ts";
import type { ThreadTools } from "./thread-tools.ts";
import type { Window } from "./window.ts";

export interface SymbolScan {
  readonly scanner: ContentScanner;
  readonly reach: ExpressionReach;
  readonly window: Window;
  readonly blobs: readonly number[];
  readonly symbols: SegmentSymbols;
  readonly tools: ThreadTools;
}

/** Blobs with definitions in which all that the expression requires stands somewhere. */
export function symbolCandidates(
  scanner: ContentScanner,
  lookup: Lookup,
  symbols: SegmentSymbols,
): ExpressionCandidates {
  const reach = scanner.candidates(lookup);
  const blobs = symbols.blobs();
  return { ...reach, blobs: reach.blobs ? intersect(reach.blobs, blobs) : blobs };
}

export function scanSymbols(scan: SymbolScan): Found {
  const { window, blobs, symbols, tools } = scan;
  const found = noneFound(blobs.length);
  const out = newRangeList();
  for (let index = 0; index < blobs.length && !tools.isStopped(); index++) {
    const blob = blobs[index]!;
    found.starts[index] = out.length;
    if (!symbols.has(blob)) continue;
    const { firstPages } = window.reader;
    window.load(blob, firstPages[blob]!, firstPages[blob + 1]!, 0);
    matchNames(scan, blob, symbols.of(blob), out);
    found.counts[index] = out.length - found.starts[index]!;
    found.edges[index] = bestEdge(
      scan,
      blob,
      out.data.subarray(2 * found.starts[index]!, 2 * out.length),
    );
  }
  found.pairs = out.data.slice(0, 2 * out.length);
  return found;
}

/** Appends the ranges in one blob, counted from its beginning. */
function matchNames(scan: SymbolScan, blob: number, list: SymbolList, out: RangeList): void {
  const { scanner, window, tools } = scan;
  const { count, rows } = list;
  const origin = window.address(blob);
  const places = anchorPlaces(scan, blob);
  let [next, last] = [0, -1];
  for (let at = 0; at < SYMBOL_ROW * count; at += SYMBOL_ROW) {
    const [start, end] = [rows[at]!, rows[at + 1]!];
    if (places) {
      while (next < places.length && places[next]! < origin + start) next++;
      if (next === places.length) return;
      if (places[next]! >= origin + end) continue;
    }
    const first = out.length;
    scanner.matcher.ranges(origin + start, origin + end, out, tools.isStopped);
    last = keepNew(out, { first, by: start, last });
  }
}

/** Moves ranges to their places in the blob, and drops those that overlap ranges of a name around theirs. Returns the last end. */
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

/** Addresses at which a required literal begins, ascending; undefined: there is none to look for. */
function anchorPlaces({ reach, window, tools }: SymbolScan, blob: number): Uint32Array | undefined {
  if (!reach.anchors) return undefined;
  const lowest = window.address(blob);
  const region = { from: lowest, to: lowest + window.length(blob), lowest };
  const folds = foldsIn(window.reader, blob);
  const lists = reach.anchors.map((anchor) =>
    tools.literals.places(anchor, [region], folds && !anchor.literal.caseSensitive),
  );
  if (lists.length === 1) return lists[0];
  return Uint32Array.from(lists.flatMap((list) => [...list])).sort();
}

/** Of ranges in the blob. */
function bestEdge({ window, tools }: SymbolScan, blob: number, ranges: Uint32Array): number {
  if (ranges.length === 0) return 0;
  const { kernel, arena } = tools;
  const mark = arena.mark();
  const at = arena.take(ranges.byteLength);
  const origin = window.address(blob);
  for (let i = 0; i < ranges.length; i++) kernel.words[(at >>> 2) + i] = ranges[i]! + origin;
  const limit = origin + window.length(blob);
  const edge = kernel.run.bestEdge(at, at + ranges.byteLength, origin, limit);
  arena.release(mark);
  return edge;
}
