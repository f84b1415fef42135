/** Finds the atoms whose ranges are shown for a matching file. */

import type { PlanAtom, PlanNode } from "../../messages/plan.ts";
import { shown, type Facts } from "./evaluate.ts";

/** The content atoms and path atoms whose ranges are shown for a matching file. */
export interface ShownAtoms {
  readonly content: readonly number[];
  readonly paths: readonly number[];
}

type Kinds = readonly Pick<PlanAtom, "kind">[];

/** Returns true if the atom can be decided only with the content of a file. */
export const isContentAtom = ({ kind }: Pick<PlanAtom, "kind">): boolean =>
  kind === "literal" || kind === "content" || kind === "symbol";

export function shownBy(
  query: {
    readonly root: PlanNode;
    readonly atoms: Kinds;
    readonly shownAlways: ShownAtoms | undefined;
  },
  facts: Facts,
): ShownAtoms {
  if (query.shownAlways) return query.shownAlways;
  const numbers = new Set<number>();
  shown(query.root, facts, numbers);
  return byKind(numbers, query.atoms);
}

/** Divides atoms, given by their numbers, into content atoms and path atoms. */
export function byKind(numbers: ReadonlySet<number>, atoms: Kinds): ShownAtoms {
  const ordered = [...numbers].sort((a, b) => a - b);
  return {
    content: ordered.filter((atom) => isContentAtom(atoms[atom]!)),
    paths: ordered.filter((atom) => atoms[atom]!.kind === "path"),
  };
}
