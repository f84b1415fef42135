/**
 * Explains why a segment has no candidate file. Finds the operands of the query that exclude all files by metadata,
 * paths and grams. Only explain() uses this. A search only needs to know that there are no candidates.
 */

import { countBits, fullBitset, intersect, isEmpty, type Bitset } from "../../../base/bitset.ts";
import { boundsOf } from "./bounds.ts";
import type { Lookup } from "./candidates.ts";
import { filesWithPath } from "./path-scan.ts";
import { withScannedPages } from "./scanned-pages.ts";
import { shownAtoms, type PlanNode } from "../../messages/plan.ts";
import { knownOf, planAtoms } from "./atom-plan.ts";
import type { SegmentQuery } from "./segment-plan.ts";
import type { SearchTools } from "../reading/thread-tools.ts";

/** An operand that excludes all files, by itself or together with the other operands of the result. */
export interface Exclusion {
  /** The operand's index in the query's conjunction. */
  readonly operand: number;
  /** The number of files in scope that the operand alone does not exclude. */
  readonly candidateFiles: number;
  /** The numbers of the operand's atoms that are under no negation. */
  readonly atoms: ReadonlySet<number>;
}

/**
 * If there are more operands than this, all of them are returned instead of a minimal set. Finding a minimal set takes
 * quadratic time.
 */
const MOST_LEFT_OUT = 32;

/**
 * Returns the operands that each exclude every file. If there is no such operand, returns a minimal set of operands
 * that exclude every file together.
 */
export async function exclusionsOf(
  { query, scope, sets, symbols }: SegmentQuery,
  lookup: Lookup,
  tools: SearchTools,
): Promise<Exclusion[]> {
  const { reader, snapshot } = lookup;
  const { pause } = tools;
  const plans = await planAtoms(query, await withScannedPages(lookup, query, scope), symbols);
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
 * Returns the indexes of a minimal group of sets whose intersection is empty. Each round begins with the intersection
 * of the sets that were chosen so far, and intersects it with the other sets in order. The set that makes the result
 * empty is chosen, because the group needs it. The sets after it are dropped, because the group does not need them.
 * REQUIRES: the intersection of all sets is empty.
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
