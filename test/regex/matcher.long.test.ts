import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createKernel } from "../../src/kernel/kernel.ts";
import { compileExpression } from "../../src/regex/expression.ts";
import { createMatcher, type Matcher } from "../../src/regex/matcher.ts";
import { newRangeList, pushRange } from "../../src/regex/range-list.ts";
import { scanLinesWithRe2 } from "./re2-lines.ts";
import { showRanges } from "./differential.ts";
import { randomFrom } from "./random.ts";

const kernel = createKernel();
const place = kernel.reserve(2_000_000);
const table = kernel.reserve(1_000);
const put = (text: string) => place + Buffer.from(text).copy(kernel.bytes, place);
const matcherOf = (source: string, caseSensitive = true) =>
  createMatcher(kernel, compileExpression(source, { caseSensitive }));

test("a kernel has one matcher for each expression", () => {
  expect(matcherOf("fo+")).toBe(matcherOf("fo+"));
  expect(matcherOf("fo+")).not.toBe(matcherOf("fo+", false));
});

test("ranges are appended to the list, relative to the region", () => {
  const end = put("a foo b foo");
  const out = newRangeList(1);
  expect(matcherOf("foo").ranges(place + 2, end, out)).toBe(2);
  expect(matcherOf("b").ranges(place, end, out)).toBe(1);
  expect(showRanges(out)).toBe("0-3 6-9 6-7");
});

/** Returns ranges as addresses. Each text is searched by its own call. */
function oneByOne(matcher: Matcher, texts: readonly (readonly [number, number])[]): string {
  const all = newRangeList();
  for (const [from, to] of texts) {
    const own = newRangeList();
    matcher.ranges(from, to, own);
    for (let i = 0; i < own.length; i++)
      pushRange(all, from + own.data[2 * i]!, from + own.data[2 * i + 1]!);
  }
  return showRanges(all);
}

function allAtOnce(matcher: Matcher, texts: readonly (readonly [number, number])[]): string {
  kernel.words.set(texts.flat(), table >>> 2);
  const all = newRangeList();
  const count = matcher.rangesOfTexts(table, texts.length, all);
  expect(all.length).toBe(count);
  return showRanges(all);
}

test.each(["fo+", "^f", "o$", "\\bfoo\\b", "f[^o]|oo", "(?i)F.", "[a-q][^u-z\\n]{13}x", "a[b]"])(
  "%s in many texts at once, as in one after another",
  (source) => {
    const random = randomFrom(7);
    const letters = Array.from("foo ab\n");
    for (let round = 0; round < 40; round++) {
      const text = Array.from({ length: random(5_000) }, () => letters[random(7)]).join("");
      const end = put(text);
      const cuts = Array.from({ length: 2 * random(20) }, () => place + random(text.length + 1));
      cuts.sort((a, b) => a - b);
      const texts = cuts.flatMap((from, i) =>
        i % 2 === 0 ? [[from, Math.min(end, cuts[i + 1]!)] as const] : [],
      );
      const matcher = matcherOf(source);
      expect(allAtOnce(matcher, texts)).toBe(oneByOne(matcher, texts));
    }
  },
);

test("texts that always need new states, and a budget that ends them", () => {
  const random = randomFrom(3);
  const letters = Array.from({ length: 300_000 }, (_, i) =>
    i % 61 === 60 ? "\n" : random(30) === 0 ? "c" : "ab"[random(2)],
  );
  put(letters.join(""));
  const texts = Array.from({ length: 30 }, (_, i) => {
    const from = place + 10_000 * i;
    return [from, from + 10_000] as const;
  });
  const matcher = matcherOf("a[ab]{20}[c!]");
  const got = allAtOnce(matcher, texts);
  expect(got).toBe(oneByOne(matcher, texts));
  expect(got.length).toBeGreaterThan(1_000);
  const patient = matcherOf("a[bc]");
  const out = newRangeList();
  let asked = 0; // once before the automaton is built
  patient.rangesOfTexts(table, texts.length, out, { budget: () => ++asked > 1 });
  expect(patient.stopped).toBe(true);
  expect(out.length).toBeGreaterThan(0);
});

test("more ranges than the kernel returns at once", () => {
  const end = put("ab ".repeat(10_000));
  const out = newRangeList();
  expect(matcherOf("a[b]").ranges(place, end, out)).toBe(10_000);
  expect([out.data[19_998], out.data[19_999]]).toEqual([29_997, 29_999]);
  expect(matcherOf("a[b]").count(place, end)).toBe(10_000);
});

test("more simultaneous expressions than the kernel has places for", () => {
  const words = Array.from({ length: 40 }, (_, i) => `word${i}\\b`);
  const end = put(words.join(" "));
  for (let round = 0; round < 3; round++)
    for (const word of words)
      expect(matcherOf(word.replace("\\b", "x?\\b")).count(place, end)).toBe(1);
});

test("the budget is checked at least every 64 KiB, and earlier results stay valid after it ends the run", () => {
  const end = put(`foo ${"x".repeat(1_000_000)} foo`);
  let asked = 0;
  const matcher = matcherOf("fo+\\b");
  expect(matcher.count(place, end, () => ++asked < 0)).toBe(2);
  expect(matcher.stopped).toBe(false);
  expect(asked).toBeGreaterThanOrEqual(15);
  const out = newRangeList();
  expect(matcher.ranges(place, end, out, { budget: () => true })).toBe(1);
  expect(matcher.stopped).toBe(true);
  expect(matcher.ranges(place, end, out)).toBe(2);
  expect(matcher.stopped).toBe(false);
});

test.each(["a[bc]", "x*", ".*", "\\b", "[^b]*c", "(?m)^a|c$", "a[ab]{20}[c!]", "(?s)b.{0,9}\n"])(
  "%s: a run that pauses whenever it may finds the same",
  (source) => {
    const random = randomFrom(7);
    const letter = () => "abcx \n"[random(6)]!;
    const end = put(Array.from({ length: 150_000 }, () => letter().repeat(1 + random(3))).join(""));
    const matcher = matcherOf(source);
    const [whole, parts] = [newRangeList(), newRangeList()];
    matcher.ranges(place, end, whole);
    const limits = { isSliceOver: () => true };
    let pauses = 0;
    for (matcher.ranges(place, end, parts, limits); matcher.paused; pauses++)
      matcher.resume(parts, limits);
    expect(showRanges(parts)).toBe(showRanges(whole));
    expect(pauses).toBeGreaterThan(2);
  },
);

test("a pause in one of many texts, and a budget that ends a later run", () => {
  const end = put("ab ".repeat(200_000));
  const half = place + 300_000;
  kernel.words.set([place, half, half, end], table / 4);
  const matcher = matcherOf("a[b]");
  const out = newRangeList();
  const limits = { isSliceOver: () => true };
  for (matcher.rangesOfTexts(table, 2, out, limits); matcher.paused;) matcher.resume(out, limits);
  expect(out.length).toBe(200_000);
  expect(out.data[399_999]).toBe(end - 1);
  const some = newRangeList();
  matcher.rangesOfTexts(table, 2, some, limits);
  expect(matcher.paused).toBe(true);
  matcher.resume(some, { budget: () => true });
  expect([matcher.paused, matcher.stopped]).toEqual([false, true]);
  expect(some.length).toBeLessThan(200_000);
});

test("texts of any length around the strides of the loops", () => {
  for (let length = 0; length < 40; length++)
    for (let at = 0; at + 3 <= length; at++) {
      const end = put("-".repeat(at) + "fxo" + "-".repeat(length - at - 3));
      const out = newRangeList();
      matcherOf("f[a-z]o").ranges(place, end, out);
      expect(showRanges(out)).toBe(`${at}-${at + 3}`);
    }
});

// long real text, for which the two-byte loop and its table are used
const sources = readdirSync("src/regex")
  .map((name) => readFileSync(`src/regex/${name}`, "utf8"))
  .join("\n");

test.each([
  ["[a-z]{3}[A-Z][a-z]+"],
  ["[a-z]+[A-Z]\\w*\\("],
  ["(const|let) \\w+ ="],
  ["export.*function.*string"],
  ["\\bre[a-z]+\\b"],
  ["[a-z]+"],
  ["if \\("],
  ["[aeiou].{5}[xyz]"],
  ["^ +return .*;$"],
  ["(?i)unicode|utf8|RE2"],
  ["[^\\n]*match[^\\n]*"],
  ["\\d+|\\w+"],
  ["zzzqqq"],
])("%s finds the same as RE2 in the sources of this folder", (source) => {
  const end = put(sources);
  const expression = compileExpression(source, { caseSensitive: true });
  const out = newRangeList();
  createMatcher(kernel, expression).ranges(place, end, out);
  const want = newRangeList();
  scanLinesWithRe2(
    expression,
    Buffer.from(sources),
    { start: 0, end: end - place },
    { out: want, budget: undefined },
  );
  expect(out.length).toBe(want.length);
  expect(showRanges(out)).toBe(showRanges(want));
  expect(createMatcher(kernel, expression).count(place, end)).toBe(want.length);
});
