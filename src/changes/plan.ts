/**
 * Splits a query of the history. The calling thread decides the atoms about repositories and revisions, and the threads
 * decide all others. A query of `type:diff` is evaluated for each change, which is one file in one commit. A query of
 * `type:commit` is evaluated for each commit.
 */

import type { HistoryQuery } from "../query/parse.ts";
import { conjuncts, type Atom, type HistoryType, type Query } from "../query/ast.ts";
import { simplify } from "../query/simplify.ts";
import type { HostAtom } from "../search/meaning/plan-query.ts";
import { QuernError } from "../base/errors.ts";

/** The sides of a change, as a set of bits. */
export const SIDE = { ADDED: 1, REMOVED: 2 } as const;
export const BOTH_SIDES = SIDE.ADDED | SIDE.REMOVED;

export interface TextPattern {
  readonly pattern: string;
  /** Whether the pattern is a regular expression. Otherwise it is a literal. */
  readonly isExpression: boolean;
  readonly caseSensitive: boolean;
}

export type ChangeAtom =
  /** With type:diff, an added or removed line. With type:commit, the message. */
  | ({ readonly kind: "text"; readonly sides: number } & TextPattern)
  | ({ readonly kind: "message" } & TextPattern)
  | {
      readonly kind: "path" | "author" | "committer";
      readonly pattern: string;
      readonly caseSensitive: boolean;
    }
  /** The committer date, in seconds since 1970. Both ends are included. */
  | { readonly kind: "date"; readonly from: number; readonly to: number }
  /** An atom that the calling thread decides, by its number. */
  | { readonly kind: "host"; readonly host: number };

export type ChangeNode =
  | { readonly kind: "all" | "none" }
  | { readonly kind: "and" | "or"; readonly children: readonly ChangeNode[] }
  | { readonly kind: "not"; readonly child: ChangeNode }
  | { readonly kind: "atom"; readonly atom: number };

export interface ChangePlan {
  readonly type: HistoryType;
  readonly root: ChangeNode;
  readonly atoms: readonly ChangeAtom[];
  readonly hostAtoms: readonly HostAtom[];
}

export function planChanges({ type, query }: HistoryQuery): ChangePlan {
  const sides = selectedSides(query);
  const atoms = new Map<string, ChangeAtom>();
  const hosts = new Map<string, HostAtom>();
  const numberIn = <T>(table: Map<string, T>, value: T): number => {
    const key = JSON.stringify(value);
    if (!table.has(key)) table.set(key, value);
    return [...table.keys()].indexOf(key);
  };
  const nodeOf = (one: Query): ChangeNode => {
    switch (one.kind) {
      case "all":
      case "none":
        return { kind: one.kind };
      case "and":
      case "or":
        return { kind: one.kind, children: one.children.map(nodeOf) };
      case "not":
        return { kind: "not", child: nodeOf(one.child) };
      case "literal":
      case "regex":
      case "language":
      case "revision":
      case "reposet":
      case "context":
      case "archived":
      case "fork":
      case "visibility":
      case "history": {
        const planned = planAtom(one, sides);
        if (planned === "all") return { kind: "all" };
        const atom =
          "host" in planned
            ? { kind: "host" as const, host: numberIn(hosts, planned.host) }
            : planned.own;
        return { kind: "atom", atom: numberIn(atoms, atom) };
      }
    }
  };
  const root = nodeOf(simplify(query));
  return { type, root, atoms: [...atoms.values()], hostAtoms: [...hosts.values()] };
}

/** Returns the sides on which terms are searched that name no side. */
function selectedSides(query: Query): number {
  for (const one of conjuncts(query))
    if (one.kind === "history" && one.filter.name === "select")
      return one.filter.value === "commit.diff.added" ? SIDE.ADDED : SIDE.REMOVED;
  return BOTH_SIDES;
}

function planAtom(
  atom: Atom,
  sides: number,
): { readonly own: ChangeAtom } | { readonly host: HostAtom } | "all" {
  switch (atom.kind) {
    case "literal": {
      const { text: pattern, caseSensitive } = atom;
      return { own: { kind: "text", pattern, isExpression: false, caseSensitive, sides } };
    }
    case "regex": {
      const { pattern, caseSensitive, field } = atom;
      if (field === "content")
        return { own: { kind: "text", pattern, isExpression: true, caseSensitive, sides } };
      if (field === "file") return { own: { kind: "path", pattern, caseSensitive } };
      if (field === "repo") return { host: { kind: "repo", pattern, caseSensitive } };
      throw unplanned(field);
    }
    case "language":
      throw unplanned(atom.kind);
    case "revision":
    case "reposet":
    case "context":
    case "archived":
    case "fork":
    case "visibility":
      return { host: atom };
    case "history":
      return planFilter(atom.filter);
  }
}

function planFilter(
  filter: Extract<Atom, { kind: "history" }>["filter"],
): { readonly own: ChangeAtom } | "all" {
  switch (filter.name) {
    case "type":
    case "select":
      return "all"; // applies to the whole query
    case "before":
      return { own: { kind: "date", from: -Infinity, to: filter.seconds } };
    case "after":
      return { own: { kind: "date", from: filter.seconds, to: Infinity } };
    case "added":
    case "removed":
    case "message": {
      const { name, value: pattern, isExpression, caseSensitive } = filter;
      const text = { pattern, isExpression, caseSensitive };
      if (name === "message") return { own: { kind: "message", ...text } };
      const sides = name === "added" ? SIDE.ADDED : SIDE.REMOVED;
      return { own: { kind: "text", sides, ...text } };
    }
    case "author":
    case "committer": {
      const { name, value: pattern, caseSensitive } = filter;
      return { own: { kind: name, pattern, caseSensitive } };
    }
  }
}

const unplanned = (what: string): QuernError =>
  new QuernError("INTERNAL", `a query of the history has an atom of kind ${what}`);
