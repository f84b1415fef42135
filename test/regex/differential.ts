/** Tries one pattern on some texts with everything that can match it, and returns the differences as readable lines. */

import { QuernError } from "../../src/base/errors.ts";
import { foldText } from "../../src/kernel/folding.ts";
import { createKernel } from "../../src/kernel/kernel.ts";
import { byteClasses } from "../../src/regex/byte-classes.ts";
import { compileExpression, type Expression } from "../../src/regex/expression.ts";
import { eachMatch } from "../../src/regex/iterate.ts";
import { createMatcher } from "../../src/regex/matcher.ts";
import { newRangeList, pushRange, type RangeList } from "../../src/regex/range-list.ts";
import { compileProgram } from "../../src/regex/program.ts";
import { re2Refusal } from "./re2-refusal.ts";
import type { Formula } from "../../src/regex/required.ts";
import { takeAll } from "../../src/base/steps.ts";
import { TwoPass } from "../../src/regex/two-pass.ts";
import { re2Ranges, verifyRanges } from "../../src/re2/verify.ts";
import { naiveFinder } from "./naive.ts";
import { randomFrom, randomPattern, randomSyntax, randomText } from "./random.ts";

const kernel = createKernel();
const ROOM = 1 << 16;
const place = kernel.reserve(ROOM);

export const showRanges = ({ data, length }: RangeList): string =>
  Array.from({ length }, (_, i) => `${data[2 * i]}-${data[2 * i + 1]}`).join(" ");

function naiveRanges(expression: Expression, bytes: Uint8Array): string {
  const find = naiveFinder(expression.syntax);
  const found: string[] = [];
  eachMatch(
    bytes,
    { start: 0, end: bytes.length },
    (from) => find(bytes, from),
    ({ start, end }) => found.push(`${start}-${end}`),
  );
  return found.join(" ");
}

export function matcherRanges(expression: Expression, bytes: Uint8Array): RangeList {
  kernel.bytes.set(bytes, place);
  const out = newRangeList(1);
  createMatcher(kernel, expression).ranges(place, place + bytes.length, out);
  return out;
}

/**
 * Returns the ranges that the two passes find. These take over if the automaton reads the same bytes again and again.
 */
export function twoPassRanges(expression: Expression, bytes: Uint8Array): RangeList {
  const program = compileProgram(expression.syntax, { backwards: false, searches: true });
  const finder = new TwoPass(program, byteClasses([program]));
  const text = { start: 0, first: 0, end: bytes.length };
  finder.begin(bytes, text);
  const out = newRangeList(1);
  eachMatch(
    bytes,
    text,
    (from) => finder.find(from),
    ({ start, end }) => pushRange(out, start, end),
  );
  return out;
}

/** Returns the ranges that are found line by line, each line as a text of its own. */
function lineRanges(expression: Expression, bytes: Uint8Array): string {
  const found: string[] = [];
  for (let start = 0; start < bytes.length;) {
    const newline = bytes.indexOf(10, start);
    const end = newline < 0 ? bytes.length : newline + 1;
    const { data, length } = matcherRanges(expression, bytes.subarray(start, end));
    for (let i = 0; i < length; i++)
      found.push(`${start + data[2 * i]!}-${start + data[2 * i + 1]!}`);
    start = end;
  }
  return found.join(" ");
}

export function satisfies(text: string, formula: Formula): boolean {
  switch (formula.kind) {
    case "any":
      return true;
    case "none":
      return false;
    case "literal":
      return (formula.fold ? foldText(text) : text).includes(formula.text);
    case "and":
      return formula.children.every((child) => satisfies(text, child));
    case "or":
      return formula.children.some((child) => satisfies(text, child));
  }
}

/** Returns the disagreement on one text, or undefined. */
export function compareOn(expression: Expression, bytes: Uint8Array): string | undefined {
  const text = { start: 0, end: bytes.length };
  const claimed = matcherRanges(expression, bytes);
  const answers = {
    automaton: showRanges(claimed),
    naive: naiveRanges(expression, bytes),
    twoPass: showRanges(twoPassRanges(expression, bytes)),
    re2: showRanges(re2Ranges(expression, { bytes, text })),
    ...(takeAll(createMatcher(kernel, expression).occursSteps(bytes)) === claimed.length > 0
      ? {}
      : { occurs: `not ${claimed.length > 0}` }),
    ...(expression.crossesLines ? {} : { lines: lineRanges(expression, bytes) }),
  };
  kernel.bytes.set(bytes, place);
  const count = createMatcher(kernel, expression).count(place, place + bytes.length);
  const wrong = verifyRanges(expression, { bytes, text, claimed });
  const found = Array.from({ length: claimed.length }, (_, i) =>
    new TextDecoder().decode(bytes.subarray(claimed.data[2 * i], claimed.data[2 * i + 1])),
  );
  if (
    new Set(Object.values(answers)).size === 1 &&
    count === claimed.length &&
    !wrong &&
    found.every((match) => satisfies(match, expression.required))
  )
    return undefined;
  return JSON.stringify({
    source: expression.source,
    caseSensitive: expression.caseSensitive,
    text: Buffer.from(bytes).toString("hex"),
    ...answers,
    count,
    verified: wrong ? showRanges(wrong) : "yes",
    required: expression.required,
  });
}

/**
 * Returns a refusal in RE2's words. Some of quern's messages say more than RE2's, and they do not repeat the pattern.
 */
const inRe2Words = (message: string): string =>
  message
    .replace("regular expression: ", "")
    .replace("back-references are not supported, ", "")
    .replace(/^(back-references are|look-around is) not supported/, "invalid perl operator")
    .replace(/\(\?P=$/, "(?P")
    .replace(/^invalid UTF-8$/, "invalid escape sequence: \\x{") // RE2 reads behind a pattern that ends so
    .replace(/^(invalid repetition size: [^:]*): .*$/, "$1")
    .replace(/^(missing|unexpected) \): .*/s, "$1 )");

/**
 * Compares the verdicts of the parser and RE2, which must be the same, in the same words. If only RE2 refuses, that is
 * a difference, too.
 */
export function compareVerdict(source: string, caseSensitive: boolean): string | undefined {
  const refusal = re2Refusal({ source, caseSensitive });
  try {
    compileExpression(source, { caseSensitive });
    return refusal === undefined
      ? undefined
      : `${JSON.stringify(source)}: accepted, RE2: ${refusal}`;
  } catch (error) {
    if (!(error instanceof QuernError)) throw error;
    if (refusal !== undefined)
      return inRe2Words(refusal) === inRe2Words(error.message)
        ? undefined
        : `${JSON.stringify(source)}: ${error.message}, RE2: ${refusal}`;
    return `${JSON.stringify(source)}: ${error.message}, RE2 accepts`;
  }
}

const TEXTS = 40;

/** Returns the differences of one seed: of four verdicts, and of a pattern on TEXTS texts, which are the cases. */
export function differencesOf(seed: number): { cases: number; differences: string[] } {
  const random = randomFrom(seed);
  const caseSensitive = random(2) === 0;
  const verdicts = Array.from({ length: 4 }, () => randomSyntax(random));
  const source = randomPattern(random);
  const differences: (string | undefined)[] = [...verdicts, source].map((each) =>
    compareVerdict(each, caseSensitive),
  );
  if (!differences.some(Boolean)) {
    const expression = compileExpression(source, { caseSensitive });
    for (let i = 0; i < TEXTS; i++) differences.push(compareOn(expression, randomText(random)));
  }
  return {
    cases: TEXTS,
    differences: differences.filter((difference) => difference !== undefined),
  };
}
