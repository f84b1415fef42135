import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { atomOf, expressionOf, readQuestions } from "../../bench/queries.ts";
import { parseQuery } from "../../src/query/parse.ts";
import { atomsOf } from "../../src/query/ast.ts";
import { PEER_NAMES } from "../../bench/peer-names.ts";

const here = (name: string) => new URL(`../../bench/${name}`, import.meta.url);
const [large, small] = ["queries.json", "queries-smoke.json"].map((name) =>
  readQuestions(here(name)),
) as [ReturnType<typeof readQuestions>, ReturnType<typeof readQuestions>];

test("there are at least 40 questions of every kind", () => {
  expect(large.length).toBeGreaterThanOrEqual(40);
  expect(new Set(large.map(({ group }) => group))).toEqual(
    new Set([
      "rare literal",
      "literal",
      "frequent literal",
      "short",
      "several words",
      "filter",
      "expression",
      "expression without literal",
      "symbol",
      "negation",
      "filter only",
    ]),
  );
});

test("no field of a question is misspelt", () => {
  const known = ["name", "group", "query", "regex", "case", "multiline", "words", "differs"];
  for (const file of ["queries.json", "queries-smoke.json"])
    for (const row of JSON.parse(readFileSync(here(file), "utf8")) as object[])
      expect(known).toEqual(expect.arrayContaining(Object.keys(row)));
});

test.each([...large, ...small])("$name parses: $query", ({ query, isRegex, isCaseSensitive }) => {
  parseQuery(query, { regex: isRegex, caseSensitive: isCaseSensitive });
});

// a space in an expression would make two operands, so that peers would get another question
test.each(
  [...large, ...small].filter(({ words }) => PEER_NAMES.some((peer) => words[peer] === undefined)),
)("$name is one atom, so peers are asked for the same by rule", (question) => {
  const { query, isRegex, isCaseSensitive } = question;
  const parsed = parseQuery(query, { regex: isRegex, caseSensitive: isCaseSensitive });
  const patterns = atomsOf(parsed).map((atom) => {
    if (atom.kind === "literal") return atom.text;
    return atom.kind === "regex" && atom.field === "content" ? atom.pattern : atom.kind;
  });
  expect(patterns).toEqual([atomOf(question)]);
});

test.each([
  ["a.b", false, "a.b", "a\\.b"],
  ['"a \\"b\\\\ c"', false, 'a "b\\ c', 'a "b\\\\ c'],
  ["a.b", true, "a.b", "a.b"],
  ['"^a b\\("', true, "^a b\\(", "^a b\\("],
])("%s (expression: %s) is the question %s", (query, isRegex, atom, expression) => {
  const question = { ...large[0]!, query, isRegex };
  expect([atomOf(question), expressionOf(question)]).toEqual([atom, expression]);
});
