/** Words that must not occur: they are found wherever they are, whether their page was read for another word or not. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { PAGE_BYTES } from "../../src/store/format/format.ts";
import { openEngine } from "../engine/opened.ts";
import { RUNS } from "../runs.ts";

const WORDS = ["alpha", "beta", "alphabet", "BETA", "gamma"];
const QUERIES: readonly [query: string, holds: (text: string) => boolean][] = [
  ["alpha -(beta)", (text) => text.includes("alpha") && !text.includes("beta")],
  ["-(beta)", (text) => !text.includes("beta")],
  [
    "alpha -(beta) -(gamma)",
    (text) => text.includes("alpha") && !text.includes("beta") && !text.includes("gamma"),
  ],
  ["gamma or -(alphabet)", (text) => text.includes("gamma") || !text.includes("alphabet")],
];

/** Words, each at some distance before the end of a page. */
const file = fc.array(
  fc.record({
    word: fc.constantFrom(...WORDS),
    page: fc.integer({ min: 1, max: 4 }),
    before: fc.constantFrom(0, 1, 3, 5, 8, 4000),
  }),
  { maxLength: 3 },
);

test("finds any words on any pages", async () => {
  const engine = await openEngine();
  const filler = Buffer.alloc(2 ** 18, "Q");
  await engine.index(documents({ name: "filler", files: [{ path: "filler", content: filler }] }));
  await fc.assert(
    fc.asyncProperty(fc.array(file, { minLength: 1, maxLength: 6 }), async (given) => {
      const contents = given.map((words, i) => contentOf(words, i));
      const files = contents.map((content, i) => ({ path: `f${i}`, content }));
      await engine.index(documents({ name: "r", files }), { symbols: "skip" });
      for (const [query, holds] of QUERIES) {
        await engine.search({ query: "QQQ", matches: 0 }); // the cached text is dropped
        const { files: found } = await engine.search({
          query: `${query} repo:^r$`,
          matches: 1000,
        });
        const expected = contents.flatMap((content, i) =>
          holds(content.toString().toLowerCase()) ? `f${i}` : [],
        );
        expect([query, found.map(({ fileName }) => fileName.text).sort()]).toEqual([
          query,
          expected,
        ]);
      }
    }),
    { numRuns: 25 * RUNS },
  );
});

function contentOf(words: readonly { word: string; page: number; before: number }[], i: number) {
  const text = Buffer.alloc(4 * PAGE_BYTES + 100, "\n");
  text.write(`${i}`, 0);
  for (const { word, page, before } of words) text.write(word, page * PAGE_BYTES - before);
  return text;
}

test("after a page with the word, no other page of the file is read", async () => {
  const engine = await openEngine();
  const content = Buffer.alloc(8 * PAGE_BYTES, "\n");
  for (let page = 0; page < 8; page++) content.write("beta", page * PAGE_BYTES + 100);
  await engine.index(documents({ name: "r", files: [{ path: "f", content }] }), {
    symbols: "skip",
  });
  const { stats } = await engine.search({ query: "-(beta)", matches: 0 });
  expect(stats.fileCount).toBe(0);
  expect(stats.contentBytesLoaded).toBeLessThan(1.1 * PAGE_BYTES);
});
