/**
 * Defines the plan that threads evaluate: the query as a tree over sets and atoms. Some parts of the query depend only
 * on repositories and revisions. The calling thread has replaced each of them by a set of files. The other parts are
 * atoms, which threads evaluate in each segment.
 */

import type { Atom } from "../../query/ast.ts";

export type PlanNode =
  | { readonly kind: "all" }
  | { readonly kind: "none" }
  /** A set of files, by its index in the sets of each segment. */
  | { readonly kind: "set"; readonly set: number }
  /** An atom, by its index in Plan.atoms. */
  | { readonly kind: "atom"; readonly atom: number }
  | { readonly kind: "and" | "or"; readonly children: readonly PlanNode[] }
  | { readonly kind: "not"; readonly child: PlanNode };

export type PlanAtom = LiteralAtom | ExpressionAtom | LanguageAtom;
export type LiteralAtom = Extract<Atom, { kind: "literal" }>;
/** An expression over content, a file's path, or the name of a definition. */
export interface ExpressionAtom {
  readonly kind: "content" | "path" | "symbol";
  readonly pattern: string;
  readonly caseSensitive: boolean;
}
export interface LanguageAtom {
  readonly kind: "language";
  /** The language's name in GitHub Linguist. Absent for an unknown language, which no file has. */
  readonly language?: string;
}

export interface Plan {
  readonly root: PlanNode;
  readonly atoms: readonly PlanAtom[];
}

/** A plan as one string, which can be sent to threads many times at little cost. */
export type PackedPlan = string & { readonly packed: "plan" };

export const packPlan = (plan: Plan): PackedPlan => JSON.stringify(plan) as PackedPlan;

export const unpackPlan = (packed: PackedPlan): Plan => JSON.parse(packed) as Plan;

/** Returns the atoms that are under no negation. Only the ranges of these atoms can be shown. */
export function shownAtoms(node: PlanNode, into = new Set<number>()): Set<number> {
  if (node.kind === "atom") into.add(node.atom);
  if (node.kind === "and" || node.kind === "or")
    for (const child of node.children) shownAtoms(child, into);
  return into;
}
