/**
 * Why a segment has no candidate file: which operands of the query leave none, by what metadata, paths
 * and grams tell. Asked by explain() alone; a search only sees that nothing is left.
 */

import { countBits, fullBitset, intersect, isEmpty, type Bitset } from "../../../base/bitset.ts";
import { boundsOf } from "./bounds.ts";
import type { Lookup } from "./candidates.ts";
import { filesWithPath } from "./path-scan.ts";
import { shownAtoms, type PlanNode } from "../../messages/plan.ts";
import { knownOf, planAtoms } from "./atom-plan.ts";
import type { SegmentQuery } from "./segment-plan.ts";
import type { SearchTools } from "../reading/thread-tools.ts";

/** An operand, alone. */
export interface Exclusion {
  /** Position among what must all hold. */
  readonly operand: number;
  readonly candidateFiles: number;
  /** Numbers of the atoms in it that are under no negation. */
  readonly atoms: ReadonlySet<number>;
}

/** Among more operands none are left out: finding which is quadratic in their number. */
const MOST_LEFT_OUT = 32;

/** Operands that leave no file, each by itself; where none does, such as leave none together, and would leave some without any one of them. */
export async function exclusionsOf(
  { query, scope, sets, symbols }: SegmentQuery,
  lookup: Lookup,
  tools: SearchTools,
): Promise<Exclusion[]> {
  const { reader, snapshot } = lookup;
  const { pause } = tools;
  const plans = await planAtoms(query, lookup, symbols);
  if (!plans) return [];
  for (const [number, plan] of plans.entries()) {
    if (plan.atom.kind !== "path") continue;
    const exact = await filesWithPath(plan.atom, reader.paths(snapshot), scope, tools);
    plans[number] = { ...plan, exact };
  }
  const known = knownOf(plans, sets, reader);
  const { files } = reader.header;
  const operands: readonly PlanNode[] =
    query.root.kind === "and" ? query.root.children : [query.root];
  const left: Bitset[] = [];
  for (const operand of operands) {
    const { maybe } = await boundsOf(operand, known, { files, pause });
    left.push(intersect(maybe.slice(), scope));
    await pause();
  }
  const empty = [...left.keys()].filter((operand) => isEmpty(left[operand]!));
  const blamed = empty.length > 0 ? empty : conflict(left, fullBitset(files));
  return blamed.map((operand) => ({
    operand,
    candidateFiles: countBits(left[operand]!),
    atoms: shownAtoms(operands[operand]!),
  }));
}

/**
 * Sets that have nothing in common, while without any one of them they have. Each round takes the first
 * set that empties what those before it leave of the ones taken: whatever is taken cannot do without it,
 * and none behind it is needed. REQUIRES: all together have nothing in common.
 */
function conflict(sets: readonly Bitset[], everything: Bitset): number[] {
  if (sets.length > MOST_LEFT_OUT) return [...sets.keys()];
  const taken: number[] = [];
  let common = everything;
  let end = sets.length;
  while (!isEmpty(common)) {
    const rest = common.slice();
    const last = sets.slice(0, end).findIndex((set) => isEmpty(intersect(rest, set)));
    taken.push(last);
    common = intersect(common, sets[last]!);
    end = last;
  }
  return taken.toReversed();
}
