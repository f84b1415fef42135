/**
 * Which blobs may hold a match within the name of a definition: the grams of the match are then those of the
 * name. Where none does, the blob's definitions need not be read to rank it.
 *
 * Costs a list for each gram. Reading and fitting the definitions of a blob costs 2 µs and more, so a
 * frequent word saves a tenth to a fifth of its time, and a rare one is not asked.
 */

import { countBits, type Bitset } from "../../../base/bitset.ts";
import type { SegmentSymbols } from "../reading/segment-symbols.ts";
import type { AtomPlan } from "./atom-plan.ts";
import { pagesWith, type Lookup } from "./candidates.ts";
import { expressionCandidates } from "./expression-plan.ts";
import { blobsOf } from "./pages.ts";

/** Below so many blobs in scope that are visited, looking the lists up takes longer than what it saves. */
const WORTH_LISTS = 32;

interface Asked {
  /** Content atoms that are ranked. */
  readonly atoms: ReadonlySet<number>;
  readonly visit: Bitset;
  /** undefined: the segment's definitions are not read. */
  readonly symbols: SegmentSymbols | undefined;
}

/** Resolves to the plans with `named`, and the bytes of the lists in their `listBytes`. */
export async function withNamedBlobs(
  plans: readonly AtomPlan[],
  { atoms, visit, symbols }: Asked,
  lookup: Lookup,
): Promise<readonly AtomPlan[]> {
  if (!symbols?.names || countBits(visit) < WORTH_LISTS) return plans;
  const inNames = { ...lookup, lists: symbols.names };
  const named: AtomPlan[] = [];
  for (const [atom, plan] of plans.entries()) {
    const within = atoms.has(atom) ? lookUp(plan, inNames) : undefined;
    named.push(
      within
        ? { ...plan, named: within.blobs, listBytes: plan.listBytes + within.listBytes }
        : plan,
    );
    await lookup.pause();
  }
  return named;
}

function lookUp(
  { atom }: AtomPlan,
  lookup: Lookup,
): Pick<AtomPlan, "blobs" | "listBytes"> | undefined {
  if (atom.kind === "content") return expressionCandidates(atom.placed, lookup);
  if (atom.kind !== "literal") return undefined; // those of names were looked up already
  const { pages, listBytes } = pagesWith(atom.placed.literal.grams, lookup);
  return { blobs: pages && blobsOf(pages, lookup.reader), listBytes };
}
