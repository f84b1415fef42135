/**
 * What the threads are asked to evaluate: the query as a tree over atoms and sets. Whatever depends
 * on repositories and revisions alone has become a set of files, made on the caller's thread; the
 * rest are atoms, evaluated where the segments are.
 */

import type { Atom } from "../../query/ast.ts";

export type PlanNode =
  | { readonly kind: "all" }
  | { readonly kind: "none" }
  /** Position in the sets that come with each segment. */
  | { readonly kind: "set"; readonly set: number }
  /** Position in Plan.atoms. */
  | { readonly kind: "atom"; readonly atom: number }
  | { readonly kind: "and" | "or"; readonly children: readonly PlanNode[] }
  | { readonly kind: "not"; readonly child: PlanNode };

export type PlanAtom = LiteralAtom | ExpressionAtom | LanguageAtom;
export type LiteralAtom = Extract<Atom, { kind: "literal" }>;
/** Of content, of a file's path, or of the name of a definition. */
export interface ExpressionAtom {
  readonly kind: "content" | "path" | "symbol";
  readonly pattern: string;
  readonly caseSensitive: boolean;
}
export interface LanguageAtom {
  readonly kind: "language";
  /** The linguist name; absent for one nobody knows, which no file has. */
  readonly language?: string;
}

export interface Plan {
  readonly root: PlanNode;
  readonly atoms: readonly PlanAtom[];
}

/** A plan as one string: it is handed to a thread many times in a search, and copied in no time. */
export type PackedPlan = string & { readonly packed: "plan" };

export const packPlan = (plan: Plan): PackedPlan => JSON.stringify(plan) as PackedPlan;

export const unpackPlan = (packed: PackedPlan): Plan => JSON.parse(packed) as Plan;

/** Atoms that occur outside negations: those whose ranges a file can show. */
export function shownAtoms(node: PlanNode, into = new Set<number>()): Set<number> {
  if (node.kind === "atom") into.add(node.atom);
  if (node.kind === "and" || node.kind === "or")
    for (const child of node.children) shownAtoms(child, into);
  return into;
}
