/**
 * Computes which files certainly match and which ones may match, for all files of a segment at once and before any
 * content is read. This is three-valued logic on bitsets: a negation turns files that certainly match into files that
 * cannot match, and the reverse.
 */

import {
  emptyBitset,
  fullBitset,
  intersect,
  subtract,
  unite,
  type Bitset,
} from "../../../base/bitset.ts";
import type { Pause } from "../../../base/yield.ts";
import type { PlanNode } from "../../messages/plan.ts";

/** `sure` contains the files that certainly match. `maybe` contains these and the files that may match. */
export interface Bounds {
  readonly sure: Bitset;
  readonly maybe: Bitset;
}

/**
 * Provides the bounds of single atoms and sets.
 * REQUIRES: the bitsets have `files` bits and never change.
 */
export interface Known {
  atom(atom: number): Bounds;
  set(set: number): Bounds;
}

/**
 * Computes which files certainly match a tree and which ones may match it. Yields to the event loop between operands,
 * because combining two operands takes time proportional to the number of files.
 */
export async function boundsOf(
  node: PlanNode,
  known: Known,
  { files, pause }: { readonly files: number; readonly pause: Pause },
): Promise<Bounds> {
  switch (node.kind) {
    case "all":
      return { sure: fullBitset(files), maybe: fullBitset(files) };
    case "none":
      return { sure: emptyBitset(files), maybe: emptyBitset(files) };
    case "set":
      return known.set(node.set);
    case "atom":
      return known.atom(node.atom);
    case "not": {
      const { sure, maybe } = await boundsOf(node.child, known, { files, pause });
      return { sure: subtract(fullBitset(files), maybe), maybe: subtract(fullBitset(files), sure) };
    }
    case "and":
    case "or": {
      const combine = node.kind === "and" ? intersect : unite;
      const [first, ...others] = node.children;
      const begun = await boundsOf(first!, known, { files, pause });
      const [sure, maybe] = [begun.sure.slice(), begun.maybe.slice()];
      // combined one after another, because the sets of two thousand children would take too much memory at once
      for (const other of others) {
        const child = await boundsOf(other, known, { files, pause });
        combine(sure, child.sure);
        combine(maybe, child.maybe);
        await pause();
      }
      return { sure, maybe };
    }
  }
}
