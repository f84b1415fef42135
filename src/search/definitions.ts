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

/** What was found in the blobs of a window. REQUIRES: with the pairs. */
export interface Rated {
  readonly found: readonly Found[];
  readonly blobs: readonly number[];
  /** As scanned: it holds the text of every match. */
  readonly window: Window;
  readonly symbols: SegmentSymbols;
}

/** Rates blobs that hold hits, when they are met: most blobs of several terms hold none. */
export class DefinitionRater {
  readonly #rated: Rated;
  readonly #tools: { readonly kernel: Kernel; readonly arena: Arena };
  #last = -1;

  constructor(rated: Rated, tools: { readonly kernel: Kernel; readonly arena: Arena }) {
    this.#rated = rated;
    this.#tools = tools;
    for (const found of rated.found) found.definitions = new Uint8Array(rated.blobs.length);
  }

  /** Sets the best class of each atom in a visited blob. */
  rate(index: number): void {
    const { found, blobs, window, symbols } = this.#rated;
    const blob = blobs[index]!;
    if (index === this.#last || !symbols.has(blob)) return;
    this.#last = index;
    const isAtJoint = (...match: [number, number, number, number]) =>
      this.#isAtJoint(window.address(blob), match);
    for (const { pairs, counts, starts, definitions } of found) {
      const count = counts[index]!;
      if (count === 0) continue;
      const from = 2 * starts[index]!;
      const range = { pairs, from, to: from + 2 * count };
      definitions![index] = bestDefinition(symbols.of(blob), range, isAtJoint);
    }
  }

  /** Whether a match lies between two joints of a name. */
  #isAtJoint(origin: number, [start, end, nameStart, nameEnd]: readonly number[]): boolean {
    const { kernel, arena } = this.#tools;
    const mark = arena.mark();
    const at = arena.take(8);
    kernel.words[at >>> 2] = origin + start!;
    kernel.words[(at >>> 2) + 1] = origin + end!;
    const edge = kernel.run.bestEdge(at, at + 8, origin + nameStart!, origin + nameEnd!);
    arena.release(mark);
    return edge >= AT_JOINT;
  }
}

export function bestDefinition(
  { rows, count }: SymbolList,
  { pairs, from, to }: { readonly pairs: Uint32Array; readonly from: number; readonly to: number },
  isAtJoint: (
    ...match: [start: number, end: number, nameStart: number, nameEnd: number]
  ) => boolean,
): number {
  let best = 0;
  let first = from;
  for (let at = 0; at < SYMBOL_ROW * count && first < to; at += SYMBOL_ROW) {
    const nameStart = rows[at]!;
    const nameEnd = rows[at + 1]!;
    while (first < to && pairs[first]! < nameStart) first += 2;
    for (let pair = first; pair < to && pairs[pair]! < nameEnd; pair += 2) {
      const start = pairs[pair]!;
      const end = pairs[pair + 1]!;
      if (end > nameEnd || start === end) continue;
      const atEnds = (start === nameStart ? 1 : 0) + (end === nameEnd ? 1 : 0);
      if (atEnds === 2) return EXACT;
      if (best >= EDGE) continue;
      best = atEnds === 1 && isAtJoint(start, end, nameStart, nameEnd) ? EDGE : INSIDE;
    }
  }
  return best;
}
