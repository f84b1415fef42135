/** Plans each atom of a query in one segment, by metadata and grams. */

import { emptyBitset, fullBitset, intersect, setBit, type Bitset } from "../../../base/bitset.ts";
import type { SegmentReader } from "../../../store/segments/segment-reader.ts";
import type { Bounds, Known } from "./bounds.ts";
import { pagesWith, type Lookup } from "./candidates.ts";
import {
  expressionCandidates,
  type ExpressionCandidates,
  type PlacedExpression,
} from "./expression-plan.ts";
import { blobsOf, filesOf } from "./pages.ts";
import type { PreparedAtom, PreparedQuery } from "./prepare.ts";
import type { SegmentSymbols } from "../reading/segment-symbols.ts";
import type { PlacedLiteral } from "../reading/literal-scanner.ts";

/** The plan of one atom in one segment. */
export interface AtomPlan {
  readonly atom: PreparedAtom;
  /** The files for which the atom is true. Undefined if this is not known without reading content. */
  readonly exact: Bitset | undefined;
  /** The blobs in which the atom may be true. Undefined means any blob. */
  readonly blobs: Bitset | undefined;
  /**
   * For a literal, the pages on which it may begin. For an expression, the pages whose lines may contain a match.
   * Undefined means any page of `blobs`.
   */
  readonly pages: Bitset | undefined;
  /** The anchors of an expression; see ExpressionReach. */
  readonly anchors: readonly PlacedLiteral[] | undefined;
  /** The blobs in which a match may be within the name of a definition. Undefined means any blob. */
  readonly named: Bitset | undefined;
  readonly listBytes: number;
  /** Whether the atom occurs only under negations, so that one match in a blob is enough. */
  readonly onlyDecides: boolean;
}

/** Returns the plan of an atom about which nothing is known yet. */
export const anywhere = (atom: PreparedAtom): AtomPlan => ({
  atom,
  exact: undefined,
  blobs: undefined,
  pages: undefined,
  anchors: undefined,
  named: undefined,
  listBytes: 0,
  onlyDecides: false,
});

/**
 * Plans every atom. Resolves to undefined if the search was stopped. `symbols` is undefined if the symbols of the
 * segment are not known.
 */
export async function planAtoms(
  { atoms, shown }: PreparedQuery,
  lookup: Lookup,
  symbols: SegmentSymbols | undefined,
): Promise<AtomPlan[] | undefined> {
  const planned: AtomPlan[] = [];
  for (const [number, atom] of atoms.entries()) {
    if (lookup.isStopped()) return undefined;
    planned.push({ ...planAtom(atom, lookup, symbols), onlyDecides: !shown.has(number) });
    await lookup.pause();
  }
  return planned;
}

function planAtom(
  atom: PreparedAtom,
  lookup: Lookup,
  symbols: SegmentSymbols | undefined,
): AtomPlan {
  const plan = anywhere(atom);
  switch (atom.kind) {
    case "language":
      return { ...plan, exact: filesIn(atom.language, lookup.reader) };
    case "path":
      return plan;
    case "symbol":
      return symbols
        ? { ...plan, ...symbolCandidates(atom.placed, lookup, symbols) }
        : { ...plan, blobs: emptyBitset(lookup.reader.header.blobs) };
    case "literal": {
      const { pages, listBytes } = pagesWith(atom.placed.literal.grams, lookup);
      return { ...plan, pages, listBytes, blobs: pages && blobsOf(pages, lookup.reader) };
    }
    case "content":
      return { ...plan, ...expressionCandidates(atom.placed, lookup) };
  }
}

/** Returns the blobs that have definitions, and whose text contains everything that the expression requires. */
function symbolCandidates(
  placed: PlacedExpression,
  lookup: Lookup,
  symbols: SegmentSymbols,
): ExpressionCandidates {
  const reach = expressionCandidates(placed, { ...lookup, lists: symbols.names });
  const blobs = symbols.blobs();
  return { ...reach, blobs: reach.blobs ? intersect(reach.blobs, blobs) : blobs };
}

/** Returns what the atoms' plans say about each file. `sets[n]` has the files of set n of the query's plan. */
export function knownOf(
  plans: readonly AtomPlan[],
  sets: readonly Bitset[],
  reader: SegmentReader,
): Known {
  // these sets are created when needed, because most queries need at most one of them
  let [everything, nothing]: (Bitset | undefined)[] = [];
  const all = () => (everything ??= fullBitset(reader.header.files));
  const none = () => (nothing ??= emptyBitset(reader.header.files));
  const exact = (files: Bitset): Bounds => ({ sure: files, maybe: files });
  return {
    set: (set) => exact(sets[set]!),
    atom: (number) => {
      const { atom, exact: files, blobs } = plans[number]!;
      if (files) return exact(files);
      if (atom.kind === "path") return { sure: none(), maybe: all() };
      return { sure: none(), maybe: filesOf(blobs, reader) };
    },
  };
}

function filesIn(language: string | undefined, { header, files }: SegmentReader): Bitset {
  const set = emptyBitset(header.files);
  const number = language === undefined ? -1 : header.languages.indexOf(language);
  if (number < 0) return set;
  const { languages } = files;
  for (let file = 0; file < languages.length; file++)
    if (languages[file] === number) setBit(set, file);
  return set;
}
