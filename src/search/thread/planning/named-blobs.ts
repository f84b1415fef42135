/**
 * Finds the blobs in which a match may be within the name of a definition: the name then has the grams of
 * the match. The definitions of other blobs need not be read for ranking.
 *
 * This costs a list for each gram. Reading and rating the definitions of a blob costs at least 2 µs, so it
 * saves a tenth to a fifth of the time for a frequent word, and is not done for a rare one.
 */

import { countBits, type Bitset } from "../../../base/bitset.ts";
import type { SegmentSymbols } from "../reading/segment-symbols.ts";
import type { AtomPlan } from "./atom-plan.ts";
import { pagesWith, type Lookup } from "./candidates.ts";
import { expressionCandidates } from "./expression-plan.ts";
import { blobsOf } from "./pages.ts";

/** With fewer visited blobs in scope, reading the lists takes longer than it saves. */
const WORTH_LISTS = 32;

interface Asked {
  /** The content atoms that are ranked. */
  readonly atoms: ReadonlySet<number>;
  readonly visit: Bitset;
  /** Undefined if the segment's definitions are not read. */
  readonly symbols: SegmentSymbols | undefined;
}

/** Resolves to the plans with `named`, and with the bytes of these lists in `listBytes`. */
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
  if (atom.kind !== "literal") return undefined; // atoms of names were looked up already
  const { pages, listBytes } = pagesWith(atom.placed.literal.grams, lookup);
  return { blobs: pages && blobsOf(pages, lookup.reader), listBytes };
}
