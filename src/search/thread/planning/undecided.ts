/**
 * Counts the files that may or may not match because their symbols are not known. Such files are being indexed, were
 * indexed without symbols, or have symbols that cannot be read. A search treats them as if they defined nothing. A file
 * is counted if some definitions could make it match, and if its text contains the literals that an expression over
 * names requires. Counting takes no time if all symbols are known.
 */

import {
  countBits,
  emptyBitset,
  fullBitset,
  intersect,
  unite,
  type Bitset,
} from "../../../base/bitset.ts";
import { knownOf, type AtomPlan } from "./atom-plan.ts";
import { boundsOf } from "./bounds.ts";
import type { Lookup } from "./candidates.ts";
import { expressionCandidates } from "./expression-plan.ts";
import type { SegmentSymbols } from "../reading/segment-symbols.ts";
import { filesOf } from "./pages.ts";
import type { PreparedQuery } from "./prepare.ts";

/** The parameters of a search in one segment. */
interface Asked {
  readonly query: PreparedQuery;
  readonly scope: Bitset;
  readonly sets: readonly Bitset[];
  readonly symbols: SegmentSymbols | undefined;
}

/** Tries the path atoms on `files`. Resolves to undefined if the search was stopped. */
export type DecidePaths = (
  atoms: readonly AtomPlan[],
  files: Bitset,
) => Promise<readonly AtomPlan[] | undefined>;

/**
 * Returns the number of undecided files in scope. If symbols are unknown, more files may match, and the path atoms must
 * be tried on all of them.
 * REQUIRES: the path atoms in `atoms` were not tried before.
 */
export async function countUndecided(
  { query, scope, sets, symbols }: Asked,
  atoms: readonly AtomPlan[],
  lookup: Lookup,
  decidePaths: DecidePaths,
): Promise<number> {
  const { reader, pause } = lookup;
  if (!atoms.some(({ atom }) => atom.kind === "symbol")) return 0;
  const unknown = symbols ? symbols.unknownBlobs() : fullBitset(reader.header.blobs);
  if (!unknown) return 0;
  const anyNames: AtomPlan[] = [];
  for (const plan of atoms) {
    anyNames.push(withAnyNames(plan, unknown, lookup));
    await pause();
  }
  const { files } = reader.header;
  const possible = async (plans: readonly AtomPlan[]): Promise<Bitset> => {
    const { maybe } = await boundsOf(query.root, knownOf(plans, sets, reader), { files, pause });
    return intersect(maybe.slice(), scope);
  };
  const mayDefine = emptyBitset(reader.header.blobs);
  for (const { atom, blobs } of anyNames) if (atom.kind === "symbol") unite(mayDefine, blobs!);
  const ofUnknown = filesOf(intersect(mayDefine, unknown), reader);
  const undecided = intersect(await possible(anyNames), ofUnknown);
  if (!anyNames.some(({ atom }) => atom.kind === "path")) return countBits(undecided);
  const decided = await decidePaths(anyNames, undecided);
  return decided ? countBits(intersect(undecided, await possible(decided))) : 0;
}

/**
 * Returns the plan that a symbol atom would have if the unknown blobs could define anything that their text contains.
 */
function withAnyNames(plan: AtomPlan, unknown: Bitset, lookup: Lookup): AtomPlan {
  if (plan.atom.kind !== "symbol") return plan;
  const { blobs: withText } = expressionCandidates(plan.atom.placed, lookup);
  const blobs = plan.blobs?.slice() ?? emptyBitset(lookup.reader.header.blobs);
  return {
    ...plan,
    blobs: unite(blobs, withText ? intersect(withText.slice(), unknown) : unknown),
  };
}
