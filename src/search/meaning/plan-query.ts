/**
 * Splits a query into two parts. The first part is the atoms about repositories and revisions, which the calling
 * thread decides with the catalog. The second part is the plan, which the threads evaluate.
 */

import { QuernError } from "../../base/errors.ts";
import { languageNamed } from "../../base/languages.ts";
import type { Atom, Query } from "../../query/ast.ts";
import { compileExpression } from "../../regex/expression.ts";
import { plainLiteral } from "../../regex/plain-literal.ts";
import type { Steps } from "../../base/steps.ts";
import type { Plan, PlanAtom, PlanNode } from "../messages/plan.ts";

/** An atom that only the catalog can decide. */
export type HostAtom =
  | Extract<Atom, { kind: "revision" | "reposet" | "context" | "archived" | "fork" | "visibility" }>
  | { readonly kind: "repo"; readonly pattern: string; readonly caseSensitive: boolean };

/** Makes the plan of a query. Each step handles one atom. Equal atoms share one entry of the plan. */
export function* planSteps(query: Query): Steps<{ plan: Plan; hostAtoms: readonly HostAtom[] }> {
  const atoms = new Numbered<PlanAtom>();
  const hostAtoms = new Numbered<HostAtom>();
  const place = (atom: Atom): PlanNode => {
    const planned = planAtom(atom);
    return "host" in planned
      ? { kind: "set", set: hostAtoms.number(planned.host) }
      : { kind: "atom", atom: atoms.number(planned.own) };
  };
  const root = yield* mapQuery(query, place);
  return {
    plan: { root, atoms: atoms.values },
    hostAtoms: hostAtoms.values,
  };
}

function* mapQuery(query: Query, place: (atom: Atom) => PlanNode): Steps<PlanNode> {
  switch (query.kind) {
    case "all":
    case "none":
      return query;
    case "and":
    case "or": {
      const children: PlanNode[] = [];
      for (const child of query.children) children.push(yield* mapQuery(child, place));
      return { kind: query.kind, children };
    }
    case "not":
      return { kind: "not", child: yield* mapQuery(query.child, place) };
    case "literal":
    case "regex":
    case "language":
    case "revision":
    case "reposet":
    case "context":
    case "archived":
    case "fork":
    case "visibility":
    case "history":
      yield;
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
    case "history":
      throw new QuernError("INTERNAL", "a filter of the history is in an ordinary query");
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
