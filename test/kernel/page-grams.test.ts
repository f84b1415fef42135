/** Compares the test of single pages with posting lists, which have a slow twin of their own. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { Arena } from "../../src/kernel/arena.ts";
import { createGramLists } from "../../src/kernel/gram-lists.ts";
import { classesOf, gramNumber, BYTE_CLASSES } from "../../src/kernel/gram-numbers.ts";
import { createKernel } from "../../src/kernel/kernel.ts";
import { PageGrams, placeGrams } from "../../src/kernel/page-grams.ts";
import { text } from "./random-text.ts";

const PAGE = 600;
const lists = createGramLists(createKernel(), PAGE);
const kernel = createKernel();
const arena = new Arena(kernel);
const page = new PageGrams(kernel, PAGE);

/** Returns the grams of a page, and whether folding changes it, according to its posting lists. */
function listed(text: Uint8Array): { grams: number[]; changed: boolean } {
  lists.clear();
  const changed = lists.add(text);
  const grams: number[] = [];
  lists.forEach((gram) => grams.push(gram));
  return { grams, changed };
}

test("a page has the same grams as its posting lists", () => {
  fc.assert(
    fc.property(text, text, (one, other) => {
      const mark = arena.mark();
      const { grams, changed } = listed(one);
      const others = listed(other).grams;
      // bytes that the previous page has left behind the end must not count
      kernel.bytes.set(Buffer.concat([other, one, other]).subarray(0, PAGE), page.at);
      page.load(Math.min(PAGE, other.length));
      kernel.bytes.set(one, page.at);
      expect(page.load(one.length)).toBe(changed);
      for (const gram of [...grams, ...others])
        expect(page.mayHaveAll(placeGrams([gram], arena)), `${gram}`).toBe(grams.includes(gram));
      const some = placeGrams([...grams.slice(0, 9), ...others.slice(0, 2)], arena);
      const hasThem = others.slice(0, 2).every((gram) => grams.includes(gram));
      for (let round = 0; round < 3; round++) expect(page.mayHaveAll(some)).toBe(hasThem);
      arena.release(mark);
    }),
    { numRuns: 500 },
  );
});

test("a page that lacks the rarest gram is skipped, and no page with all grams is", () => {
  const mark = arena.mark();
  const grams = listed(Buffer.from("abcdefgh")).grams;
  const placed = placeGrams(grams, arena);
  const asked = (text: string) => {
    kernel.bytes.set(Buffer.from(text), page.at);
    page.load(text.length);
    return page.mayHaveAll(placed);
  };
  for (let trial = 0; trial < 64; trial++) expect(asked("abcd defgh")).toBe(false);
  expect(placed.grams.length).toBeLessThan(grams.length);
  const [answer, others] = [asked("abcdefgh"), ["abcd defgh", "abcd", ""].map(asked)];
  expect([answer, ...others]).toEqual([true, false, false, false]);
  arena.release(mark);
});

test("the classes of a gram are those that it was made from", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 3, maxLength: 3 }), ([a, b, c]) => {
      const classes = [a!, b!, c!].map((byte) => BYTE_CLASSES[byte]!);
      expect(classesOf(gramNumber(a!, b!, c!))).toEqual(classes);
    }),
    { numRuns: 1000 },
  );
});
