/** The automaton, RE2 and the naive simulation give the same answer. QUERN_SEED selects other cases, and QUERN_RUNS multiplies them. */

import { expect, test } from "vitest";
import { compileExpression } from "../../src/regex/expression.ts";
import { CORPUS } from "./corpus.ts";
import { compareOn, differencesOf, matcherRanges, showRanges } from "./differential.ts";
import { RUNS, someOf } from "../runs.ts";

test.each(CORPUS.map(([source, text, want]) => [source, Buffer.from(text).toString(), want, text]))(
  "%s on %j: %s",
  (source, _, want, text) => {
    const expression = compileExpression(source as string, { caseSensitive: true });
    expect(showRanges(matcherRanges(expression, text as Uint8Array))).toBe(want);
    expect(compareOn(expression, text as Uint8Array)).toBeUndefined();
  },
);

test("random cases have no differences", () => {
  const first = Number(process.env["QUERN_SEED"] ?? 1);
  let cases = 0;
  for (let seed = first; cases < 2_500 * RUNS; seed++) {
    const found = differencesOf(seed);
    expect(found.differences, `QUERN_SEED=${seed}`).toEqual([]);
    cases += found.cases;
  }
});

// RE2 expands counts into operators, which merge with the operators below; this decides how an empty body matches
test("nested counts, over bodies that may be empty", () => {
  const counts = ["*", "+?", "?", "??", "{0,}", "{1,}", "{1,}?", "{2,}", "{0,1}", "{0,2}", "{1,3}"];
  const texts = ["bcssasba", "sx", "aab s"].map((text) => Buffer.from(text));
  for (const body of someOf(["a|s??", "|s", "s*?", "a?", "(?:b??){2}", "s*"], 3))
    for (const inner of counts)
      for (const outer of counts)
        for (const around of ["", "{0,2}"]) {
          const source = `(?:(?:(?:${body})${inner})${outer})${around}`;
          const expression = compileExpression(source, { caseSensitive: true });
          for (const text of texts) expect(compareOn(expression, text), source).toBeUndefined();
        }
});
