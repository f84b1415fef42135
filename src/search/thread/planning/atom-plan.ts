/** What one segment's metadata and grams say of each atom, before any content is read. */

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

/** One atom in one segment. */
export interface AtomPlan {
  readonly atom: PreparedAtom;
  /** Files for which it is true, where that is known without content. */
  readonly exact: Bitset | undefined;
  /** Blobs in which it may be true; undefined: any. */
  readonly blobs: Bitset | undefined;
  /** Pages in which a literal may begin, or whose lines hold an expression's matches; undefined: any of those blobs. */
  readonly pages: Bitset | undefined;
  /** Of an expression: see ExpressionReach. */
  readonly anchors: readonly PlacedLiteral[] | undefined;
  /** Blobs in which a match may lie within the name of a definition; undefined: any. */
  readonly named: Bitset | undefined;
  readonly listBytes: number;
  /** It stands under negations only: one match in a blob is enough. */
  readonly onlyDecides: boolean;
}

/** Nothing is known of it yet. */
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

/** Plans every atom; resolves to undefined if it was stopped. `symbols`: undefined where the segment's are not known. */
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

/** Blobs with definitions in which all that the expression requires stands somewhere. */
function symbolCandidates(
  placed: PlacedExpression,
  lookup: Lookup,
  symbols: SegmentSymbols,
): ExpressionCandidates {
  const reach = expressionCandidates(placed, { ...lookup, lists: symbols.names });
  const blobs = symbols.blobs();
  return { ...reach, blobs: reach.blobs ? intersect(reach.blobs, blobs) : blobs };
}

/** What the plans tell of each file. `sets`: by the numbers of the plan's sets. */
export function knownOf(
  plans: readonly AtomPlan[],
  sets: readonly Bitset[],
  reader: SegmentReader,
): Known {
  const everything = fullBitset(reader.header.files);
  const nothing = emptyBitset(reader.header.files);
  const exact = (files: Bitset): Bounds => ({ sure: files, maybe: files });
  return {
    set: (set) => exact(sets[set]!),
    atom: (number) => {
      const { atom, exact: files, blobs } = plans[number]!;
      if (files) return exact(files);
      if (atom.kind === "path") return { sure: nothing, maybe: everything };
      return { sure: nothing, maybe: filesOf(blobs, reader) };
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
