/**
 * Rewrites a query to a smaller equivalent one. This folds constants, flattens nested `and` and `or`, removes double
 * negations, and drops duplicates. Simplifying the result again does not change it. The time is linear in the number of
 * operands, apart from the time for the text of the atoms.
 *
 * Equivalent queries match the same files and highlight the same ranges. The ranges of an atom are highlighted if the
 * atom is true and not negated, and if all branches around it are true as well. A direct double negation counts as no
 * negation. The following two queries are not simplified further, because simpler ones would highlight other ranges:
 *
 *   "" or foo          matches every file, but is not `all`, because foo is highlighted
 *   -(-(foo) "")       matches where foo does, but is not foo, because nothing is highlighted
 *
 * As a consequence, if an atom has the same value in all files of a repository, a constant may replace that atom, and
 * the query may be simplified again. The highlights of all other atoms stay the same.
 */

import { ALL, NONE, type Query } from "./ast.ts";

export function simplify(query: Query): Query {
  return new Simplifier().simplify(query);
}

class Simplifier {
  /** The interned queries. All equal queries are one object, so that duplicates are found by identity. */
  readonly #interned = new Map<string, Query>();
  readonly #ids = new Map<Query, number>([
    [ALL, 0],
    [NONE, 1],
  ]);

  simplify(query: Query): Query {
    if (query.kind === "and") return this.#and(query.children);
    if (query.kind === "or") return this.#or(query.children);
    if (query.kind === "not") return this.#not(query.child);
    if (query.kind === "all" || admitsAll(query)) return ALL;
    return query.kind === "none" ? NONE : this.#intern(query);
  }

  #and(children: readonly Query[]): Query {
    const flat = this.#flatten("and", children);
    return flat.has(NONE) ? NONE : this.#join("and", without(flat, ALL), ALL);
  }

  #or(children: readonly Query[]): Query {
    const flat = this.#flatten("or", children);
    if (!flat.has(ALL)) return this.#join("or", without(flat, NONE), NONE);
    const shown = [...flat].filter((child) => child === ALL || yieldsRanges(child));
    return this.#join("or", shown, ALL);
  }

  #flatten(kind: "and" | "or", children: readonly Query[]): Set<Query> {
    const simple = children.map((child) => this.simplify(child));
    return new Set(simple.flatMap((child) => (child.kind === kind ? child.children : [child])));
  }

  #join(kind: "and" | "or", children: readonly Query[], unit: Query): Query {
    if (children.length <= 1) return children[0] ?? unit;
    return this.#intern({ kind, children });
  }

  #not(written: Query): Query {
    if (written.kind === "not") return this.simplify(written.child);
    const child = this.simplify(written);
    if (child.kind === "or" && child.children.includes(ALL)) return NONE;
    if (child.kind === "all") return NONE;
    if (child.kind === "none") return ALL;
    if (child.kind !== "not") return this.#intern({ kind: "not", child });
    if (!yieldsRanges(child.child)) return child.child;
    return this.#intern({
      kind: "not",
      child: this.#intern({ kind: "and", children: [child, ALL] }),
    });
  }

  #intern(query: Query): Query {
    const key = this.#key(query);
    const known = this.#interned.get(key);
    if (known !== undefined) return known;
    this.#interned.set(key, query);
    this.#ids.set(query, this.#ids.size);
    return query;
  }

  #key(query: Query): string {
    if (query.kind === "not") return `not ${this.#ids.get(query.child)}`;
    if (query.kind !== "and" && query.kind !== "or") return JSON.stringify(query);
    return `${query.kind} ${query.children.map((child) => this.#ids.get(child)).join()}`;
  }
}

/** Returns whether a filter accepts everything, as `archived:yes` does. */
function admitsAll(query: Query): boolean {
  if (query.kind === "archived" || query.kind === "fork") return query.value === "yes";
  return query.kind === "visibility" && query.value === "any";
}

function without(queries: ReadonlySet<Query>, constant: Query): Query[] {
  return [...queries].filter((query) => query !== constant);
}

/** Returns whether a query can highlight ranges. REQUIRES: the query contains no direct double negation. */
function yieldsRanges(query: Query): boolean {
  if (query.kind === "and" || query.kind === "or") return query.children.some(yieldsRanges);
  return query.kind === "literal" || (query.kind === "regex" && query.field !== "repo");
}
