/** The literal that an automaton looks for while no match has begun, and that it finds the same as without one. */

import { expect, test } from "vitest";
import { createKernel } from "../../src/kernel/kernel.ts";
import { Automaton, automatonSteps } from "../../src/regex/automaton.ts";
import { compileExpression } from "../../src/regex/expression.ts";
import { needleOf } from "../../src/regex/needle.ts";
import { newRangeList } from "../../src/regex/range-list.ts";
import { takeAll } from "../../src/base/steps.ts";
import { RUNS } from "../runs.ts";
import { showRanges } from "./differential.ts";
import { randomFrom } from "./random.ts";

/**
 * Returns the bytes of the needle, and the most bytes before it. Letters of either case are in lower case, in
 * parentheses.
 */
function show(source: string, caseSensitive = true): string {
  const needle = needleOf(compileExpression(source, { caseSensitive }).syntax);
  if (!needle) return "-";
  const { bytes, masks, lead } = needle;
  const letters = Array.from(bytes, (byte, i) =>
    masks[i] ? `(${String.fromCharCode(byte)})` : String.fromCharCode(byte),
  );
  return `${letters.join("")} ${lead}`;
}

test.each<[source: string, needle: string]>([
  ["dev_err\\([^)]*%d", "dev_err( 0"],
  ["(?i)race\\s+condition", "(r)(a)(c)(e) 0"],
  ["(?i)dev_1", "(d)(e)(v)_1 0"],
  ["[a]b", "ab 0"],
  ["[xX]yz*", "(x)y 0"],
  // longest, and of these the first
  ["ab.cde.fgh", "cde 6"],
  ["ab\\dcd", "ab 0"],
  ["..ab", "ab 8"],
  // s and k have cases beyond ASCII
  ["(?i)struct\\s+file", "(t)(r)(u)(c)(t) 4"],
  ["(?i)task+", "(t)(a) 0"],
  ["éab", "ab 4"],
  // up to 16 bytes
  ["abcdefghijklmnopq+", "abcdefghijklmnop 0"],
  [`a.${"b".repeat(15)}c+`, `${"b".repeat(15)} 5`],
  [`${".".repeat(8)}ab`, "ab 32"],
  [`${".".repeat(9)}ab`, "-"],
  // a part of variable length, or an assertion, ends the needle
  ["ab*cdef", "-"],
  ["abc*def", "ab 0"],
  ["ab(c|d)efgh", "efgh 6"],
  ["ab(foo|bar)efgh", "ab 0"],
  ["ab\\bcdef", "ab 0"],
  ["\\bab", "-"],
  ["^ab", "-"],
  ["a", "-"],
  ["a|b", "-"],
  ["ab|cd", "-"],
  ["(ab)?c", "-"],
  ["[0-9]{4}-", "-"],
])("%s: %s", (source, needle) => {
  expect(show(source)).toBe(needle);
});

const SOURCES = [
  "xy[^)]*z",
  "xyz?",
  "xy.*?z",
  "(?i)xy[^z]{0,40}z",
  ".xya",
  "\\w\\Wxy[^)]",
  "xyxyx+",
  "[xX]yx[^)]*a",
  "xy\\b[^)]*$",
  "(?s)xy.{0,300}x",
];
const kernel = createKernel();
const place = kernel.reserve(400_000);
const table = kernel.reserve(1_000);

function automatonOf(source: string, hasNeedle: boolean): Automaton {
  const compiled = takeAll(
    automatonSteps(compileExpression(source, { caseSensitive: true }).syntax),
  );
  expect(compiled.needle).toBeDefined();
  return new Automaton(kernel, hasNeedle ? compiled : { ...compiled, needle: undefined }, false);
}

/** Returns text that is mostly filler, so that the loop runs far, also beyond the 64 KiB of one run. */
function textOf(random: (below: number) => number): string {
  const parts: string[] = [];
  for (let bytes = 0; bytes < 200_000; bytes += parts.at(-1)!.length) {
    const kind = random(40);
    if (kind === 0) parts.push("-".repeat(random(70_000)));
    else if (kind < 4) parts.push("\n".repeat(random(40)));
    else
      parts.push(
        ["xy", "x", "y", "z", "a", "XY", " ", "é", ")", "xyx", "xyxyx", ".xya"][random(12)]!,
      );
    if (parts.at(-1) === "") parts.push("b");
  }
  return parts.join("");
}

test.each(SOURCES)("%s finds the same with its needle as without", (source) => {
  const random = randomFrom(11);
  for (let round = 0; round < 4 * RUNS; round++) {
    const end = place + Buffer.from(textOf(random)).copy(kernel.bytes, place);
    const [plain, quick] = [automatonOf(source, false), automatonOf(source, true)];
    const expected = newRangeList();
    plain.ranges(place, end, expected);
    const found = newRangeList();
    quick.ranges(place, end, found);
    expect(showRanges(found)).toBe(showRanges(expected));
    expect(expected.length).toBeGreaterThan(0);
    expect(quick.count(place, end)).toBe(expected.length);
    const cuts = Array.from({ length: 12 }, () => place + random(end - place)).sort(
      (a, b) => a - b,
    );
    kernel.words.set(cuts, table >>> 2);
    const [texts, others] = [newRangeList(), newRangeList()];
    quick.rangesOfTexts(table, 6, texts);
    plain.rangesOfTexts(table, 6, others);
    expect(showRanges(texts)).toBe(showRanges(others));
  }
});

test("a match around the place where the loop pauses", () => {
  const quick = automatonOf("....xya", true);
  for (let before = 0; before < 60; before++) {
    const text = `${"-".repeat(65_536 - before)}xya${"-".repeat(100)}`;
    const end = place + Buffer.from(text).copy(kernel.bytes, place);
    const found = newRangeList();
    quick.ranges(place, end, found);
    expect(showRanges(found)).toBe(`${65_532 - before}-${65_539 - before}`);
  }
});
