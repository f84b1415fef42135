/**
 * Which expressions are equivalent to a few texts, by example; and that a search for these texts finds what RE2 finds.
 */

import fc from "fast-check";
import { expect, test } from "vitest";
import { foldText } from "../../src/kernel/folding.ts";
import { compileExpression, type ExpressionSource } from "../../src/regex/expression.ts";
import { fewTexts } from "../../src/regex/few-texts.ts";
import { re2Find } from "../../src/re2/re2.ts";
import { RUNS } from "../runs.ts";

const textsOf = (source: string, caseSensitive: boolean) =>
  fewTexts(compileExpression(source, { caseSensitive }).syntax);

/** Returns the texts, followed by an i if they match in any case; "-" for any other expression. */
function show(source: string, caseSensitive: boolean): string {
  const texts = textsOf(source, caseSensitive);
  if (!texts) return "-";
  return texts.map((one) => one.text).join(" ") + (texts[0]!.caseSensitive ? "" : " i");
}

test.each<[source: string, exact: string, folded: string]>([
  ["fixme|todo", "fixme todo", "fixme todo i"],
  [
    "(alloc|free)_pages?",
    "alloc_pages alloc_page free_pages free_page",
    "alloc_pages alloc_page free_pages free_page i",
  ],
  ["FIXME|12", "FIXME 12", "fixme 12 i"],
  // the order of alternatives decides
  ["pages?", "pages page", "pages page i"],
  ["pages??", "page", "page i"],
  ["page|pages", "page", "page i"],
  ["foo|foo|bar", "foo bar", "foo bar i"],
  ["a(b|)c", "abc ac", "abc ac i"],
  ["a(?:b?)?c", "abc ac", "abc ac i"],
  ["Foo|foobar", "Foo foobar", "foo i"],
  // an overlapping text is not found by continuing after each place
  ["foo|aba", "-", "-"],
  ["foo|Aba", "foo Aba", "-"],
  ["aa|b", "-", "-"],
  ["k\u212a|b", "k\u212a b", "-"],
  // more than 8 texts, or a long one
  [
    "abc|bcd|cde|def|efg|fgh|ghi|hij",
    "abc bcd cde def efg fgh ghi hij",
    "abc bcd cde def efg fgh ghi hij i",
  ],
  ["abc|bcd|cde|def|efg|fgh|ghi|hij|ijk", "-", "-"],
  ["(foo|bar)(a|bc)(x|yz)?", "-", "-"],
  [`foo|b${"a".repeat(127)}`, `foo b${"a".repeat(127)}`, `foo b${"a".repeat(127)} i`],
  [`foo|b${"a".repeat(128)}`, "-", "-"],
  // case matters to a part of the expression
  ["foo|(?i:bar)", "-", "foo bar i"],
  ["12|(?i:bar)", "12 bar i", "12 bar i"],
  ["(?-i:foo)|bar", "foo bar", "-"],
  // the first alternative matches nothing, and is chosen
  ["x(?:a??|a)?", "x", "x i"],
  // expressions that are more than a few texts
  ["foo|", "-", "-"],
  ["(foo)?", "-", "-"],
  ["foo|b.r", "-", "-"],
  ["foo|ba[rz]", "-", "-"],
  ["foo|ba+", "-", "-"],
  ["fo{2}|bar", "-", "-"],
  ["foo|^bar", "-", "-"],
  ["foo\\b|bar", "-", "-"],
  ["foo|\\C", "-", "-"],
  ["foo|\\x{d800}", "-", "-"],
])("%s is %s, without case %s", (source, exact, folded) => {
  expect([show(source, true), show(source, false)]).toEqual([exact, folded]);
});

const { tree: sources } = fc.letrec<{ tree: string }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom("a", "ab", "K", "s", "ba", "abc"),
    fc.array(tie("tree"), { minLength: 2, maxLength: 3 }).map((parts) => `(?:${parts.join("|")})`),
    fc.array(tie("tree"), { minLength: 2, maxLength: 3 }).map((parts) => parts.join("")),
    fc.tuple(tie("tree"), fc.constantFrom("?", "??")).map(([part, mark]) => `(?:${part})${mark}`),
  ),
}));

const TEXTS = fc
  .array(fc.constantFrom(..."a b c A B k K \u212a s ſ -".split(" ")), { maxLength: 30 })
  .map((letters) => letters.join(""));

test("the places of the texts equal the matches", () => {
  let simple = 0;
  fc.assert(
    fc.property(sources, fc.boolean(), TEXTS, (source, caseSensitive, text) => {
      const texts = textsOf(source, caseSensitive);
      if (!texts) return;
      simple++;
      expect(matchesOf(texts, text)).toEqual(matchesOfRe2({ source, caseSensitive }, text));
    }),
    { numRuns: 3000 * RUNS },
  );
  expect(simple).toBeGreaterThan(300);
});

/**
 * Returns RE2's matches. JavaScript's differ, because there an optional part that matches nothing tries its other
 * alternatives.
 */
function matchesOfRe2(expression: ExpressionSource, text: string): [number, number][] {
  const bytes = Buffer.from(text);
  const all = { start: 0, end: bytes.length };
  const matches: [number, number][] = [];
  const find = (from: number) => re2Find(expression, bytes, all, from);
  for (let found = find(0); found; found = find(found.end)) {
    const before = bytes.subarray(0, found.start).toString().length;
    matches.push([before, before + bytes.subarray(found.start, found.end).toString().length]);
  }
  return matches;
}

/**
 * Returns the matches: places of all texts in order, longest first, without those that begin before the end of the
 * previous match.
 */
function matchesOf(
  texts: readonly { text: string; caseSensitive: boolean }[],
  given: string,
): [number, number][] {
  const places = texts.flatMap(({ text, caseSensitive }) =>
    placesOf(text, caseSensitive ? given : foldText(given)),
  );
  const matches: [number, number][] = [];
  for (const place of places.toSorted((a, b) => a[0] - b[0] || b[1] - a[1]))
    if (place[0] >= (matches.at(-1)?.[1] ?? 0)) matches.push(place);
  return matches;
}

function placesOf(text: string, given: string): [number, number][] {
  const places: [number, number][] = [];
  for (let at = given.indexOf(text); at >= 0; at = given.indexOf(text, at + text.length))
    places.push([at, at + text.length]);
  return places;
}
