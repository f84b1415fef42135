/**
 * How matches fit the definitions of their blob, for ranking:
 *
 *     3  a match is exactly the name of a definition
 *     2  it begins or ends one, and its other end is at a joint of the name (kernel/assembly/edges.ts)
 *     1  it lies in one
 *     0  none of all that
 *
 * Both lists ascend, so one walk along them is enough: some nanoseconds a match and a definition.
 */

import type { Kernel } from "../kernel/kernel.ts";
import type { Arena } from "../kernel/arena.ts";
import { SYMBOL_ROW, type SymbolList } from "../store/symbol-run.ts";
import type { Found } from "./scan.ts";
import type { SegmentSymbols } from "./segment-symbols.ts";
import type { Window } from "./window.ts";

export const EXACT = 3;
const EDGE = 2;
const INSIDE = 1;
/** Of bestEdge(): one end of the match is that of the name (2), the other at a joint at least. */
const AT_JOINT = 3;

/** The best class of each visited blob. REQUIRES: `found` holds the pairs, and the window their text. */
export function rateDefinitions(
  found: Found,
  blobs: readonly number[],
  symbols: SegmentSymbols,
  isAtJoint: JointTest,
): Uint8Array {
  const best = new Uint8Array(blobs.length);
  for (let index = 0; index < blobs.length; index++) {
    const count = found.counts[index]!;
    const blob = blobs[index]!;
    if (count === 0 || !symbols.has(blob)) continue;
    const from = 2 * found.starts[index]!;
    const range = { pairs: found.pairs, from, to: from + 2 * count };
    best[index] = bestDefinition(symbols.of(blob), range, (start, end, name) =>
      isAtJoint(blob, start, end, name),
    );
  }
  return best;
}

/** Whether the match [start, end) of a blob lies between two joints of a name. */
export type JointTest = (
  ...[blob, start, end, name]: [number, number, number, readonly [number, number]]
) => boolean;

export function bestDefinition(
  { rows, count }: SymbolList,
  { pairs, from, to }: { readonly pairs: Uint32Array; readonly from: number; readonly to: number },
  isAtJoint: (start: number, end: number, name: readonly [number, number]) => boolean,
): number {
  let best = 0;
  let first = from;
  for (let at = 0; at < SYMBOL_ROW * count && first < to; at += SYMBOL_ROW) {
    const [nameStart, nameEnd] = [rows[at]!, rows[at + 1]!];
    while (first < to && pairs[first]! < nameStart) first += 2;
    for (let pair = first; pair < to && pairs[pair]! < nameEnd; pair += 2) {
      const [start, end] = [pairs[pair]!, pairs[pair + 1]!];
      if (end > nameEnd || start === end) continue;
      const atEnds = (start === nameStart ? 1 : 0) + (end === nameEnd ? 1 : 0);
      if (atEnds === 2) return EXACT;
      if (best >= EDGE) continue;
      best = atEnds === 1 && isAtJoint(start, end, [nameStart, nameEnd]) ? EDGE : INSIDE;
    }
  }
  return best;
}

export function jointTest(window: Window, kernel: Kernel, arena: Arena): JointTest {
  return (blob, start, end, [nameStart, nameEnd]) => {
    const mark = arena.mark();
    const at = arena.take(8);
    const origin = window.address(blob);
    kernel.words[at >>> 2] = origin + start;
    kernel.words[(at >>> 2) + 1] = origin + end;
    const edge = kernel.run.bestEdge(at, at + 8, origin + nameStart, origin + nameEnd);
    arena.release(mark);
    return edge >= AT_JOINT;
  };
}
