/** Paths that are near a word, compared with a slow search of all edits. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nearestPaths, nearPathExpression } from "../../src/base/near-path.ts";

const isNear = (path: string, word: string): boolean =>
  nearestPaths([path], (one) => one, [word]).length === 1;

/** Everything that one edit makes of a word. `?` stands for any letter. */
function editsOf(word: string): string[] {
  const edits = [word];
  for (let i = 0; i <= word.length; i++) {
    const [before, after] = [word.slice(0, i), word.slice(i)];
    edits.push(`${before}?${after}`);
    if (after === "") continue;
    edits.push(before + after.slice(1), `${before}?${after.slice(1)}`);
    if (after.length > 1) edits.push(before + after[1]! + after[0]! + after.slice(2));
  }
  return edits;
}

const occurs = (pattern: string, text: string): boolean =>
  Array.from(text, (_, i) => i).some((i) =>
    Array.from(pattern).every(
      (letter, j) => text[i + j] === letter || (letter === "?" && i + j < text.length),
    ),
  ) || pattern === "";

const isLeftOut = (name: string, word: string): boolean => {
  let at = 0;
  for (const letter of name) if (letter === word[at]) at++;
  return at === word.length;
};

/** The slow twin, for words that may have one edit. */
const isNearSlowly = (path: string, word: string): boolean =>
  path.split("/").some((name) => isLeftOut(name, word)) ||
  path.includes(word) ||
  (word.length >= 4 && editsOf(word).some((edit) => occurs(edit, path)));

const letters = fc.constantFrom("a", "b", "c", "d");
const path = fc
  .array(fc.string({ unit: letters, minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 3 })
  .map((names) => names.join("/"));

test("a path is near a word exactly if one edit or letters left out make it so", () => {
  const word = fc.string({ unit: letters, minLength: 1, maxLength: 7 });
  fc.assert(
    fc.property(path, word, (one, two) => {
      expect([one, two, isNear(one, two)]).toEqual([one, two, isNearSlowly(one, two)]);
    }),
    { numRuns: 3_000 },
  );
});

test("the expression matches every path that is near with an edit in each half", () => {
  const word = fc.string({ unit: letters, minLength: 1, maxLength: 12 });
  const property = fc.property(
    path,
    word,
    fc.nat(),
    fc.nat(),
    fc.boolean(),
    (around, one, m, n, isUpper) => {
      const half = Math.ceil(one.length / 2);
      const [first, second] = [editsOf(one.slice(0, half)), editsOf(one.slice(half))];
      const edited =
        one.length < 8
          ? editsOf(one)[m % editsOf(one).length]!
          : first[m % first.length]! + second[n % second.length]!;
      const name = around + edited.replaceAll("?", "x");
      const shown = isUpper ? name.toUpperCase() : name;
      if (one.length < 4) return;
      expect([shown, one, isNear(shown, one)]).toEqual([shown, one, true]);
      expect(shown).toMatch(new RegExp(nearPathExpression(one), "i"));
    },
  );
  fc.assert(property, { numRuns: 2_000 });
});

test("the expression matches every path that is near", () => {
  const word = fc.string({ unit: letters, minLength: 1, maxLength: 7 });
  fc.assert(
    fc.property(path, word, (one, two) => {
      if (isNear(one, two)) expect(one).toMatch(new RegExp(nearPathExpression(two), "i"));
    }),
    { numRuns: 3_000 },
  );
});

describe("the nearest come first", () => {
  test.each<[words: string, nearest: string[], others?: string[]]>([
    ["serach-page", ["src/search/search-page.tsx"], ["src/page.tsx"]],
    ["srchpg", ["src/search/search-page.tsx"], ["src/search/pages/x.ts"]],
    ["page search", ["search-page.tsx", "src/search/page-of-results.tsx"], ["search.ts"]],
    ["cart", ["src/cart.py", "cart/src.py", "src/chart.py", "c-a-r-t.py"], ["src/dog.py"]],
    ["Makefile", ["Makefile", "tools/makefile.am", "tools/Makfile"]],
    ["strat", ["src/start.ts"], ["src/some text that needs room and then a tail.ts"]],
    ["ünï.ts", ["src/ünï.ts", "src/üni.ts"]],
    ["a.(b", ["x/a.(b"], ["x/ab"]],
    ["x".repeat(100), ["x".repeat(101)], ["x".repeat(99)]],
  ])("%s", (words, nearest, others = []) => {
    const all = [...others, ...nearest.toReversed()];
    const found = nearestPaths(all, (one) => one, words.split(" "));
    expect(found).toEqual(nearest);
    for (const one of nearest)
      for (const word of words.split(" "))
        expect(one).toMatch(new RegExp(nearPathExpression(word), "iu"));
  });
});
