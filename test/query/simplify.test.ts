/** A simplified query holds for the same files as the query, and shows the same occurrences. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { ALL, NONE, type Query } from "../../src/query/ast.ts";
import { simplify } from "../../src/query/simplify.ts";
import { outline } from "./outline.ts";
import { RUNS } from "../runs.ts";

const literal = (text: string): Query => ({ kind: "literal", text, caseSensitive: false });
const [a, b] = [literal("a"), literal("b")];
const file: Query = { kind: "regex", field: "file", pattern: "f", caseSensitive: false };
const repo: Query = { kind: "regex", field: "repo", pattern: "r", caseSensitive: false };
const go: Query = { kind: "language", name: "go" };
const any: Query = { kind: "archived", value: "yes" };
const and = (...children: Query[]): Query => ({ kind: "and", children });
const or = (...children: Query[]): Query => ({ kind: "or", children });
const not = (child: Query): Query => ({ kind: "not", child });

test.each<[Query, string]>([
  [a, "lit:a"],
  [and(a, ALL), "lit:a"],
  [and(a, NONE), "none"],
  [and(ALL, ALL), "all"],
  [or(a, NONE), "lit:a"],
  [or(NONE, NONE), "none"],
  [or(go, ALL), "all"],
  [or(repo, ALL), "all"],
  [or(not(a), ALL), "all"],
  [or(a, ALL), "(or lit:a all)"],
  [or(file, go, ALL), "(or file:f all)"],
  [not(or(a, ALL)), "none"],
  [and(b, or(a, ALL)), "(and lit:b (or lit:a all))"],
  [and(a, and(b, ALL)), "(and lit:a lit:b)"],
  [or(a, or(b, a)), "(or lit:a lit:b)"],
  [and(a, or(b, or(go, b)), a), "(and lit:a (or lit:b lang:go))"],
  [and(a, literal("a")), "lit:a"],
  [and(a, { ...a, caseSensitive: true } as Query), "(and lit:a lit:a)"],
  [not(not(a)), "lit:a"],
  [not(not(not(a))), "(not lit:a)"],
  [not(and(not(a), ALL)), "(not (and (not lit:a) all))"],
  [not(and(not(go), ALL)), "lang:go"],
  [and(a, not(or(NONE, ALL))), "none"],
  [any, "all"],
  [{ kind: "fork", value: "yes" }, "all"],
  [{ kind: "visibility", value: "any" }, "all"],
  [{ kind: "fork", value: "no" }, "fork:no"],
  [not(any), "none"],
])("%j", (query, want) => {
  expect(outline(simplify(query))).toBe(want);
});

const query: fc.Arbitrary<Query> = fc.letrec<{ query: Query }>((tie) => ({
  query: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constantFrom(a, b, literal("a"), literal("c"), file, repo, go, any, ALL, NONE),
    fc.array(tie("query"), { minLength: 2, maxLength: 3 }).map((children) => and(...children)),
    fc.array(tie("query"), { minLength: 2, maxLength: 3 }).map((children) => or(...children)),
    tie("query").map(not),
  ),
})).query;

/** Whether the query holds if exactly the atoms whose outlines are in `held` do. */
function holds(tree: Query, held: ReadonlySet<string>): boolean {
  if (tree.kind === "and") return tree.children.every((child) => holds(child, held));
  if (tree.kind === "or") return tree.children.some((child) => holds(child, held));
  if (tree.kind === "not") return !holds(tree.child, held);
  return tree.kind === "all" || tree === any || (tree.kind !== "none" && held.has(outline(tree)));
}

/** Returns the atoms whose occurrences are shown. */
function shown(tree: Query, held: ReadonlySet<string>): string[] {
  if (!holds(tree, held)) return [];
  if (tree.kind === "and" || tree.kind === "or")
    return tree.children.flatMap((child) => shown(child, held));
  if (tree.kind === "not") return tree.child.kind === "not" ? shown(tree.child.child, held) : [];
  return tree.kind === "literal" || tree === file ? [outline(tree)] : [];
}

const world = fc
  .subarray([a, b, literal("c"), file, repo, go].map(outline))
  .map((names) => new Set(names));

test("the simplified query matches the same files and shows the same occurrences", () => {
  fc.assert(
    fc.property(query, world, (tree, held) => {
      const simple = simplify(tree);
      expect(holds(simple, held)).toBe(holds(tree, held));
      expect(new Set(shown(simple, held))).toEqual(new Set(shown(tree, held)));
    }),
    { numRuns: 4_000 * RUNS },
  );
});

test("the same holds after known atoms became constants", () => {
  const settle = (tree: Query, held: ReadonlySet<string>): Query => {
    if (tree.kind === "and" || tree.kind === "or")
      return { ...tree, children: tree.children.map((child) => settle(child, held)) };
    if (tree.kind === "not") return not(settle(tree.child, held));
    return outline(tree) === "repo:r" || tree.kind === "language"
      ? constant(holds(tree, held))
      : tree;
  };
  const constant = (value: boolean) => (value ? ALL : NONE);
  fc.assert(
    fc.property(query, world, (tree, held) => {
      const simple = simplify(settle(simplify(tree), held));
      expect(holds(simple, held)).toBe(holds(tree, held));
      expect(new Set(shown(simple, held))).toEqual(new Set(shown(tree, held)));
    }),
    { numRuns: 4_000 * RUNS },
  );
});

test("simplifying twice changes nothing more", () => {
  fc.assert(
    fc.property(query, (tree) => {
      const once = simplify(tree);
      expect(simplify(once)).toEqual(once);
    }),
    { numRuns: 2_000 * RUNS },
  );
});

test("the simplified query is never larger", () => {
  const size = (tree: Query): number => outline(tree).length;
  fc.assert(
    fc.property(query, (tree) => {
      expect(size(simplify(tree))).toBeLessThanOrEqual(size(tree));
    }),
  );
});
