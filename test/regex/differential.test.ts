/** Automaton, RE2 and the naive simulation give one answer. QUERN_SEED moves to other cases. */

import { expect, test } from "vitest";
import { compileExpression } from "../../src/regex/expression.ts";
import { CORPUS } from "./corpus.ts";
import { compareOn, differencesOf, matcherRanges, showRanges } from "./differential.ts";

test.each(CORPUS.map(([source, text, want]) => [source, Buffer.from(text).toString(), want, text]))(
  "%s on %j: %s",
  (source, _, want, text) => {
    const expression = compileExpression(source as string, { caseSensitive: true });
    expect(showRanges(matcherRanges(expression, text as Uint8Array))).toBe(want);
    expect(compareOn(expression, text as Uint8Array)).toBeUndefined();
  },
);

test("8 000 random cases", () => {
  const first = Number(process.env["QUERN_SEED"] ?? 1);
  let cases = 0;
  for (let seed = first; cases < 8_000; seed++) {
    const found = differencesOf(seed);
    expect(found.differences, `QUERN_SEED=${seed}`).toEqual([]);
    cases += found.cases;
  }
});
