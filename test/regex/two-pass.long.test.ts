/**
 * Compares the two passes with the automaton on texts of many blocks, and with RE2 on texts in which every place makes
 * a new state.
 */

import { expect, test } from "vitest";
import { byteClasses } from "../../src/regex/byte-classes.ts";
import { compileExpression } from "../../src/regex/expression.ts";
import { eachMatch, type Span } from "../../src/regex/iterate.ts";
import { compileProgram } from "../../src/regex/program.ts";
import { newRangeList, pushRange } from "../../src/regex/range-list.ts";
import { TwoPass } from "../../src/regex/two-pass.ts";
import { matcherRanges, showRanges, twoPassRanges } from "./differential.ts";
import { randomFrom } from "./random.ts";

const random = randomFrom(11);
const textOf = (letters: string, length: number): Uint8Array =>
  Buffer.from(Array.from({ length }, () => letters[random(letters.length)]).join(""));

test.each<[string, string]>([
  ["fo+|o", "fo \n"],
  ["(?s)f.*o$", "fox\n"],
  ["^[^f]*o|f", "fox\n"],
  ["\\bfo*\\b|\\Bo", "fo \n"],
  ["(fo*)*x|f", "foooox"],
  ["(f|fo)(ox|x)?", "fox"],
  ["f*?x|f", "fffffffffox"],
  ["(f*|o)*?x", "fox \n"],
  ["o*", "fo\n"],
  ["(?m)$", "fo\n"],
  ["\\A[fo]+|x\\z", "fox"],
])("%s in texts that end before, at and after the edge of a block", (source, letters) => {
  const expression = compileExpression(source, { caseSensitive: true });
  for (const length of [0, 1, 4095, 4096, 4097, 8191, 8192, 8193, 30_000]) {
    const text = textOf(letters, length);
    expect(showRanges(twoPassRanges(expression, text))).toBe(
      showRanges(matcherRanges(expression, text)),
    );
  }
});

/** More states than are cached from block to block, and matches across the edges of blocks. */
test.each(["c[ab]{20}a[a-c]{200}|[^c]c|b", "(c[ab]{20}a|[ab])+|c"])(
  "%s: states that are dropped and made again",
  (source) => {
    const expression = compileExpression(source, { caseSensitive: true });
    const text = textOf("aaaaaabbbbbbbbc", 40_000);
    const want = matcherRanges(expression, text);
    expect(want.length).toBeGreaterThan(100);
    expect(showRanges(twoPassRanges(expression, text))).toBe(showRanges(want));
  },
);

test("matches that start within the text see the text before them", () => {
  const bytes = Buffer.from("xfoo foo\nfoo");
  const { syntax } = compileExpression("\\bfoo|^o", { caseSensitive: true });
  const program = compileProgram(syntax, { backwards: false, searches: true });
  const finder = new TwoPass(program, byteClasses([program]));
  finder.begin(bytes, { start: 0, first: 1, end: bytes.length });
  expect(finder.find(1)).toEqual({ start: 5, end: 8 });
  expect(finder.find(6)).toEqual({ start: 9, end: 12 });
  expect(finder.find(10)).toBeUndefined();
  finder.begin(bytes, { start: 1, first: 1, end: 6 }); // the same states are used for another text
  expect(finder.find(1)).toEqual({ start: 1, end: 4 });
});

/** Returns two passes that begin with a text. */
function finderOf(source: string, bytes: Uint8Array): TwoPass {
  const { syntax } = compileExpression(source, { caseSensitive: true });
  const program = compileProgram(syntax, { backwards: false, searches: true });
  const finder = new TwoPass(program, byteClasses([program]));
  finder.begin(bytes, { start: 0, first: 0, end: bytes.length });
  return finder;
}

test("a budget ends either pass", () => {
  const bytes = textOf("aabbc", 80_000);
  const asksUntil = (last: number) => {
    const finder = finderOf("c[ab]{200}a|b", bytes);
    let asked = 0;
    const limits = { budget: () => ++asked >= last };
    let [at, first] = [0, 0];
    for (let match = finder.find(at, limits); match; match = finder.find(at, limits)) {
      first ||= asked;
      at = match.end;
    }
    return { first, asked, stopped: finder.stopped };
  };
  const { first, asked, stopped } = asksUntil(Infinity);
  expect(stopped).toBe(false);
  expect(first).toBeGreaterThan(2);
  expect(asked).toBeGreaterThan(first);
  for (const last of [1, 2, first, asked])
    expect(asksUntil(last)).toMatchObject({ asked: last, stopped: true });
});

const PAUSES = { isSliceOver: () => true };

test("a search continues correctly if it pauses as often as possible", () => {
  const source = "c[ab]{20}a[a-c]{200}|[^c]c|b"; // nearly every place makes a new state
  const bytes = textOf("aaaaaabbbbbbbbc", 15_000);
  const finder = finderOf(source, bytes);
  const out = newRangeList(1);
  let pauses = 0;
  const next = (from: number) => {
    let match = finder.find(from, PAUSES);
    for (; finder.paused; pauses++) match = finder.find(from, PAUSES);
    return match;
  };
  const found = ({ start, end }: Span) => pushRange(out, start, end);
  eachMatch(bytes, { start: 0, end: bytes.length }, next, found);
  const expression = compileExpression(source, { caseSensitive: true });
  expect(showRanges(out)).toBe(showRanges(matcherRanges(expression, bytes)));
  expect(pauses).toBeGreaterThan(8); // more than once in a block
});

test("a match that is longer than the text between two checks", () => {
  const bytes = textOf("ab\n", 1_000_000);
  const finder = finderOf("(?s)a.*", bytes);
  let pauses = 0;
  let match = finder.find(0, PAUSES);
  for (; finder.paused; pauses++) match = finder.find(0, PAUSES);
  expect(match).toEqual({ start: bytes.indexOf(97), end: bytes.length });
  expect(pauses).toBeGreaterThan(8); // in both passes
});
