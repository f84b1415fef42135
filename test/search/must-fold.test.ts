/** When a literal is searched code point by code point, which is slow: only if bytes and masks would miss it. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { Arena } from "../../src/kernel/arena.ts";
import { createKernel } from "../../src/kernel/kernel.ts";
import { prepareLiteral } from "../../src/search/thread/reading/literal.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { LiteralScanner, placeLiteral } from "../../src/search/thread/reading/literal-scanner.ts";
import { PAGE_BYTES } from "../../src/store/format/format.ts";
import { openEngine } from "../engine/opened.ts";

const kernel = createKernel();
const arena = new Arena(kernel);
const scanner = new LiteralScanner(kernel, arena);

const between = { isStopped: () => false, pause: () => undefined };

/** Calls the function with the text in the kernel's memory. */
async function within<T>(
  text: string,
  call: (region: { from: number; to: number }) => T,
): Promise<Awaited<T>> {
  const mark = arena.mark();
  const from = arena.put(Buffer.from(text));
  try {
    return await call({ from, to: from + Buffer.byteLength(text) });
  } finally {
    arena.release(mark);
  }
}

const mustFold = (needle: string, text: string, caseSensitive = false): Promise<boolean> => {
  const literal = prepareLiteral({ kind: "literal", text: needle, caseSensitive });
  return within(text, (region) => scanner.mustFold(literal, region));
};

test.each<[needle: string, text: string, must: boolean]>([
  ["return", "É", false],
  ["return", "\u212a ſ", false],
  ["task", "É Σ", false],
  ["task", "a \u212a", true],
  ["TASK", "ſ b", true],
  ["ass", "\u212a", false],
  ["k", "", false],
  ["1+2", "\u212a ſ É", false],
  ["中", "\u212a ſ É", false],
  ["中k", "É", false],
  ["中k", "\u212a", true],
  ["é", "e", true],
  ["kö", "k", true],
  ["\u212a", "k", true],
])("%j in %j: %s", async (needle, text, must) => {
  expect(await mustFold(needle, text)).toBe(must);
  expect(await mustFold(needle, text, true)).toBe(false);
});

test("where it need not be, the places are the same", async () => {
  const characters = Array.from("akKsS\u212aſéÉ中 ");
  const string = (unit: string[], maxLength: number) =>
    fc.string({ unit: fc.constantFrom(...unit), minLength: 1, maxLength });
  let needNot = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(string(characters, 40), string(Array.from("aAkKsSÉ中"), 40)),
      string(characters, 4),
      async (text, needle) => {
        const literal = prepareLiteral({ kind: "literal", text: needle, caseSensitive: false });
        await within(text, async (region) => {
          if (scanner.mustFold(literal, region)) return;
          needNot++;
          const placed = placeLiteral(literal, arena);
          const places = (isFolded: boolean) =>
            scanner.places(placed, [{ ...region, lowest: region.from }], isFolded, between);
          expect(await places(false)).toEqual(await places(true));
        });
      },
    ),
    { numRuns: 2000 },
  );
  expect(needNot).toBeGreaterThan(200);
});

test("what folds to a letter of it may stand on the page behind that in which the match begins", async () => {
  const engine = await openEngine();
  const files = Array.from({ length: 5 }, (_, i) => {
    const filler = "z\n".repeat(PAGE_BYTES).slice(0, PAGE_BYTES - i);
    return { path: `${i}`, content: `${filler}tas\u212a\n${filler}` };
  });
  await engine.index(documents({ name: "r", files }));
  for (const isRegexEnabled of [false, true]) {
    const query = isRegexEnabled ? "[t]ask" : "task";
    const { stats } = await engine.search({ query, matches: 9, isRegexEnabled });
    expect(stats.totalMatchCount).toBe(5);
  }
});
