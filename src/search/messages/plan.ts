/**
 * What the threads are asked to evaluate: the query as a tree over atoms and sets. Whatever depends
 * on repositories and revisions alone has become a set of files, made on the caller's thread; the
 * rest are atoms, evaluated where the segments are.
 */

import { languageNamed } from "../../base/languages.ts";
import type { Atom, Query } from "../../query/ast.ts";
import { compileExpression } from "../../regex/expression.ts";
import { plainLiteral } from "../../regex/plain-literal.ts";

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

/** What only the catalog can decide. */
export type HostAtom =
  | Extract<Atom, { kind: "revision" | "reposet" | "context" | "archived" | "fork" | "visibility" }>
  | { readonly kind: "repo"; readonly pattern: string; readonly caseSensitive: boolean };

export interface Plan {
  readonly root: PlanNode;
  readonly atoms: readonly PlanAtom[];
}

/** Equal atoms become one. */
export function planQuery(query: Query): { plan: Plan; hostAtoms: readonly HostAtom[] } {
  const atoms = new Numbered<PlanAtom>();
  const hostAtoms = new Numbered<HostAtom>();
  const place = (atom: Atom): PlanNode => {
    const planned = planAtom(atom);
    return "host" in planned
      ? { kind: "set", set: hostAtoms.number(planned.host) }
      : { kind: "atom", atom: atoms.number(planned.own) };
  };
  return {
    plan: { root: mapQuery(query, place), atoms: atoms.values },
    hostAtoms: hostAtoms.values,
  };
}

function mapQuery(query: Query, place: (atom: Atom) => PlanNode): PlanNode {
  switch (query.kind) {
    case "all":
    case "none":
      return query;
    case "and":
    case "or":
      return { kind: query.kind, children: query.children.map((child) => mapQuery(child, place)) };
    case "not":
      return { kind: "not", child: mapQuery(query.child, place) };
    case "literal":
    case "regex":
    case "language":
    case "revision":
    case "reposet":
    case "context":
    case "archived":
    case "fork":
    case "visibility":
      return place(query);
  }
}

function planAtom(atom: Atom): { own: PlanAtom } | { host: HostAtom } {
  switch (atom.kind) {
    case "literal":
      return { own: atom };
    case "language": {
      const language = languageNamed(atom.name);
      return {
        own: language === undefined ? { kind: "language" } : { kind: "language", language },
      };
    }
    case "regex":
      return planExpression(atom);
    case "revision":
    case "reposet":
    case "context":
    case "archived":
    case "fork":
    case "visibility":
      return { host: atom };
  }
}

function planExpression(
  atom: Extract<Atom, { kind: "regex" }>,
): { own: PlanAtom } | { host: HostAtom } {
  const { pattern, caseSensitive } = atom;
  switch (atom.field) {
    case "content": {
      const plain = plainLiteral(compileExpression(pattern, { caseSensitive }).syntax);
      return {
        own: plain ? { kind: "literal", ...plain } : { kind: "content", pattern, caseSensitive },
      };
    }
    case "file":
      return { own: { kind: "path", pattern, caseSensitive } };
    case "symbol":
      return { own: { kind: "symbol", pattern, caseSensitive } };
    case "repo":
      return { host: { kind: "repo", pattern, caseSensitive } };
  }
}

class Numbered<T> {
  readonly values: T[] = [];
  readonly #numbers = new Map<string, number>();

  number(value: T): number {
    const key = JSON.stringify(value);
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.values.length);
    return this.values.push(value) - 1;
  }
}

/** Atoms that occur outside negations: those whose ranges a file can show. */
export function shownAtoms(node: PlanNode, into = new Set<number>()): Set<number> {
  if (node.kind === "atom") into.add(node.atom);
  if (node.kind === "and" || node.kind === "or")
    for (const child of node.children) shownAtoms(child, into);
  return into;
}
