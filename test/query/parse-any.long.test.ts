/**
 * For any text, the parser throws only its own errors, the canonical form parses to itself, and the time grows linearly
 * with the text.
 */

import fc from "fast-check";
import { expect, test } from "vitest";
import { QuernError } from "../../src/base/errors.ts";
import { formatQuery } from "../../src/query/ast.ts";
import { MAX_NESTING, parseQuery, QUERY_LIMITS, type Dialect } from "../../src/query/parse.ts";
import { outcome } from "./outline.ts";
import { RUNS, someOf } from "../runs.ts";

const DIALECTS: readonly Dialect[] = [
  { regex: false, caseSensitive: false },
  { regex: true, caseSensitive: true },
];

const PIECES = [
  "(",
  ")",
  '"',
  "\\",
  "-",
  ":",
  " ",
  "\t",
  "\n",
  "[",
  "]",
  "|",
  "*",
  "?",
  "^",
  "$",
  "x",
  "a",
  "or",
  " or ",
  "(a b)",
  "file:",
  "-file:x",
  "lang:go",
  "archived:no",
  "sym:",
  '""',
  '"a b"',
  "[^",
  "[:alpha:]",
  "\\Q",
  "\\E",
  "\\(",
  "()",
  "content:",
  "rev:*",
  "reposet:a,b",
  "é",
  "\u{1f600}",
];

/** Texts that mostly consist of parts with a meaning in the language. */
const queryText = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }).map((pieces) => pieces.join("")),
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.string({ maxLength: 60 }),
);

test("any text is a query, or one of three errors with a position in the text", () => {
  const codes = new Set(["QUERY_SYNTAX", "REGEX_SYNTAX", "REGEX_TOO_LARGE"]);
  fc.assert(
    fc.property(queryText, fc.constantFrom(...DIALECTS), (text, dialect) => {
      try {
        parseQuery(text, dialect);
      } catch (error) {
        if (!(error instanceof QuernError)) throw error;
        expect(codes).toContain(error.code);
        expect(error.position).toBeGreaterThanOrEqual(0);
        expect(error.position).toBeLessThanOrEqual(text.length);
        expect(error.message).toMatch(/\n {2}.*\n {2} *\^$/su);
      }
    }),
    { numRuns: 2_000 * RUNS },
  );
});

test("the canonical form parses to the same query", () => {
  fc.assert(
    fc.property(queryText, fc.constantFrom(...DIALECTS), (text, dialect) => {
      if (/^(QUERY|REGEX)_/.test(outcome(text, dialect))) return;
      const query = parseQuery(text, dialect);
      expect(parseQuery(formatQuery(query), dialect)).toEqual(query);
    }),
    { numRuns: 2_000 * RUNS },
  );
});

test("in the literal dialect, no parenthesis is an error", () => {
  const words = fc.constantFrom("a", "b", "(", ")", " ", "-", '"', "x(");
  fc.assert(
    fc.property(fc.array(words, { minLength: 1, maxLength: 30 }), (pieces) => {
      const text = `x${pieces.join("")}`;
      expect(outcome(text, DIALECTS[0]!)).not.toMatch(/^(QUERY|REGEX)_/);
    }),
    { numRuns: 1_000 * RUNS },
  );
});

const nested = (depth: number, inner: string) => "(".repeat(depth) + inner + ")".repeat(depth);

test.each([
  ["literal", nested(MAX_NESTING, "a"), "lit:a"],
  ["literal", nested(MAX_NESTING + 1, "a"), `QUERY_SYNTAX ${MAX_NESTING}`],
  ["regex", nested(MAX_NESTING, "a b"), "(and re:a re:b)"],
  ["regex", nested(MAX_NESTING + 1, "a b"), `QUERY_SYNTAX ${MAX_NESTING}`],
  ["literal", "-(".repeat(MAX_NESTING) + "a b" + ")".repeat(MAX_NESTING), /^\(not/],
  ["literal", "(".repeat(90_000), "lit:((("],
  ["regex", "(".repeat(90_000), "REGEX_TOO_LARGE"],
])("nesting, %s: %.12s", (name, text, want) => {
  const got = outcome(text, DIALECTS[name === "regex" ? 1 : 0]!);
  if (typeof want === "string") expect(got.slice(0, want.length)).toBe(want);
  else expect(got).toMatch(want);
});

/**
 * Texts that are repeated up to the longest query. Quadratic work takes 16 times as long as for a quarter of the query.
 */
const HARD = [
  // nesting, groups that are never closed, and parentheses of expressions
  "(",
  ")",
  "()",
  "-(",
  "(a",
  "(a or ",
  "(a -(b ",
  "(()",
  "(file:x ",
  // quotes, closed or not
  '"',
  '" ',
  '"\\',
  '"\n',
  '("',
  'file:"',
  // runs of operators
  '"a" or ',
  "or ",
  "a or b ",
  "-(a b) ",
  "- ",
  "a ",
  " ",
  // runs of prefixes
  "-file:x ",
  "-content:a or ",
  "file:(",
  "reposet:a,",
  "lang:go or rev:a ",
  // expressions: classes, flags, alternatives, repetitions
  "[",
  "\\Q(",
  "(?i)",
  "(?i:",
  "((?i)a ",
];

test.each(HARD)(
  "the longest query of %j takes about four times as long as a quarter of it",
  (piece) => {
    for (const dialect of DIALECTS) {
      /** Returns milliseconds of processor time, which other work on the machine does not increase. */
      const time = (size: number) => {
        const text = `a${piece.repeat(Math.floor((size - 2) / piece.length))}b`;
        const before = process.cpuUsage();
        outcome(text, dialect);
        const { user, system } = process.cpuUsage(before);
        return (user + system) / 1_000;
      };
      // another process may have used the caches, or the core's other half, in all attempts except one
      const least = (size: number) => Math.min(time(size), time(size), time(size));
      const isLinear = () => least(240_000) < 10 * Math.max(least(60_000), 10);
      // the garbage collector may run only in the larger attempt
      expect(isLinear() || isLinear() || isLinear()).toBe(true);
    }
  },
);

const terms = (count: number, term: string) => Array.from({ length: count }, () => term).join(" ");
const { characters, termCharacters, groupedTerms, repositoryTerms, names } = QUERY_LIMITS;

/** The maximum of each kind in a query, and the error message for one more, if there is one. */
test.each<[what: string, of: (count: number) => string, most: number, message: RegExp]>(
  someOf(
    [
      ["characters", (count) => "a".padEnd(count), characters, /longer than 250000 characters/],
      ["terms", (count) => terms(count, "a"), QUERY_LIMITS.terms, /more than 2000 terms/],
      [
        "termCharacters",
        (count) => "a".repeat(count),
        termCharacters,
        /more than 100000 characters/,
      ],
      [
        "groupedTerms",
        (count) => `${nested(200, terms(100, "a"))} ${nested(count - 200 * 100, "a")}`,
        groupedTerms,
        /groups have more than 20000 terms/,
      ],
      [
        "repositoryTerms",
        (count) => terms(count, "-repo:a"),
        repositoryTerms,
        /more than 200 terms about repositories/,
      ],
      [
        "names",
        (count) => `reposet:a reposet:${Array.from({ length: count - 1 }, () => "a").join()}`,
        names,
        /at most 10000 names/,
      ],
    ],
    2,
  ),
)("at most so many %s", (_, of, most, message) => {
  expect(() => parseQuery(of(most), DIALECTS[0]!)).not.toThrow();
  expect(() => parseQuery(of(most + 1), DIALECTS[0]!)).toThrow(message);
  expect(outcome(of(most + 1), DIALECTS[0]!)).toMatch(/^QUERY_SYNTAX/);
});

test("one limit applies to all expressions of a query together", () => {
  const expressions = (count: number) =>
    Array.from({ length: count }, (_, i) => `\\pL\\PL${i}`).join(" ");
  expect(() => parseQuery(expressions(10), DIALECTS[1]!)).not.toThrow();
  expect(outcome(expressions(1_000), DIALECTS[1]!)).toMatch(/^REGEX_TOO_LARGE/);
});
