/** Any text: only its own errors, a canonical form that comes back, time that grows with the text. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { QuernError } from "../../src/base/errors.ts";
import { show } from "../../src/query/ast.ts";
import { MAX_NESTING, parseQuery, type Dialect } from "../../src/query/parse.ts";
import { outcome } from "./outline.ts";

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

/** Mostly text that the language gives a meaning to. */
const queryText = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { maxLength: 14 }).map((pieces) => pieces.join("")),
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.string({ maxLength: 60 }),
);

test("any text is a query or one of three errors with a position in it", () => {
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
    { numRuns: 5000 },
  );
});

test("the canonical form parses back to the same query", () => {
  fc.assert(
    fc.property(queryText, fc.constantFrom(...DIALECTS), (text, dialect) => {
      if (/^(QUERY|REGEX)_/.test(outcome(text, dialect))) return;
      const query = parseQuery(text, dialect);
      expect(parseQuery(show(query), dialect)).toEqual(query);
    }),
    { numRuns: 5000 },
  );
});

test("in the literal dialect no parenthesis is an error", () => {
  const words = fc.constantFrom("a", "b", "(", ")", " ", "-", '"', "x(");
  fc.assert(
    fc.property(fc.array(words, { minLength: 1, maxLength: 30 }), (pieces) => {
      const text = `x${pieces.join("")}`;
      expect(outcome(text, DIALECTS[0]!)).not.toMatch(/^(QUERY|REGEX)_/);
    }),
    { numRuns: 2000 },
  );
});

const nested = (depth: number, inner: string) => "(".repeat(depth) + inner + ")".repeat(depth);

test.each([
  ["literal", nested(MAX_NESTING, "a"), "lit:a"],
  ["literal", nested(MAX_NESTING + 1, "a"), `QUERY_SYNTAX ${MAX_NESTING}`],
  ["regex", nested(MAX_NESTING, "a b"), "(and re:a re:b)"],
  ["regex", nested(MAX_NESTING + 1, "a b"), `QUERY_SYNTAX ${MAX_NESTING}`],
  ["literal", "-(".repeat(MAX_NESTING) + "a b" + ")".repeat(MAX_NESTING), /^\(not/],
  ["literal", "(".repeat(1 << 20), "lit:((("],
  ["regex", "(".repeat(1 << 20), "REGEX_TOO_LARGE"],
])("nesting, %s: %.12s", (name, text, want) => {
  const got = outcome(text, DIALECTS[name === "regex" ? 1 : 0]!);
  if (typeof want === "string") expect(got.slice(0, want.length)).toBe(want);
  else expect(got).toMatch(want);
});

/** Each is repeated up to a megabyte: quadratic work takes 16 times as long as for a quarter of it. */
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

test.each(HARD)("a megabyte of %j takes about four times as long as a quarter of it", (piece) => {
  for (const dialect of DIALECTS) {
    /** Milliseconds of the processor, which other work on the machine does not lengthen. */
    const time = (size: number) => {
      const text = piece.repeat(Math.ceil(size / piece.length));
      const before = process.cpuUsage();
      outcome(text, dialect);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    };
    const isLinear = () => time(1 << 20) < 10 * Math.max(time(1 << 18), 10);
    // the collector may run in the larger one alone
    expect(isLinear() || isLinear() || isLinear()).toBe(true);
  }
});
