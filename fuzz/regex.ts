/**
 * Fuzzes the front end for regular expressions. The parser and RE2 must accept the same patterns. The automaton, RE2
 * and a naive simulation must find the same ranges, and each range must contain the literals that the pattern requires.
 */

import { QuernError } from "../src/base/errors.ts";
import { compileExpression, type Expression } from "../src/regex/expression.ts";
import { compareOn, compareVerdict } from "../test/regex/differential.ts";
import { randomFrom, randomPattern, randomSyntax, randomText } from "../test/regex/random.ts";
import { mutateSeed } from "./mutate.ts";
import { holds, Wrong, type Target } from "./target.ts";

const MOST_PATTERN_BYTES = 200; // the naive simulation steps through every thread
const TEXTS = 12;

let [accepted, ranged] = [0, 0];

export const regex: Target = {
  make(random, seeds) {
    const how = random(4);
    if (how === 0) return Buffer.from(randomSyntax(random));
    return how === 1
      ? mutateSeed(random, seeds).subarray(0, MOST_PATTERN_BYTES)
      : Buffer.from(randomPattern(random));
  },
  check(input) {
    const source = input.toString();
    for (const caseSensitive of [true, false]) checkPattern(source, caseSensitive);
  },
  summary: () =>
    `RE2 and the automaton agreed on ${accepted} accepted expressions (with and without case) and ` +
    `their ranges in ${ranged} texts`,
};

function checkPattern(source: string, caseSensitive: boolean): void {
  const expression = compileOrRefuse(source, caseSensitive);
  if (expression === "too large") return; // a limit of quern's own; RE2 may accept the pattern
  const verdict = compareVerdict(source, caseSensitive);
  if (verdict !== undefined) throw new Wrong(verdict);
  if (!expression) return;
  accepted++;
  const random = randomFrom(source.length);
  for (let i = 0; i < TEXTS; i++) {
    const difference = compareOn(expression, randomText(random));
    if (difference !== undefined) throw new Wrong(difference);
    ranged++;
  }
}

function compileOrRefuse(
  source: string,
  caseSensitive: boolean,
): Expression | "too large" | undefined {
  try {
    return compileExpression(source, { caseSensitive });
  } catch (error) {
    if (!(error instanceof QuernError)) throw error;
    if (error.code === "REGEX_TOO_LARGE") return "too large";
    holds(error.code === "REGEX_SYNTAX", `an error ${error.code}`);
    return undefined;
  }
}
