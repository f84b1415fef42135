/** Texts without posting lists and symbols: answers are those of an index without symbols. */

import { expect, test, vi } from "vitest";
import type * as Documents from "../../src/overlay/documents.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { LAYOUT } from "../../src/store/format/format.ts";
import { openEngine, SMALL_LAYOUT } from "../engine/opened.ts";
import { asIfIndexed } from "./as-if-indexed.ts";
import { someOf } from "../runs.ts";

vi.mock("../../src/overlay/documents.ts", async (original) => {
  const real = await original<typeof Documents>();
  const checkDocuments: typeof real.checkDocuments = (given) =>
    real
      .checkDocuments(given)
      .map((one) => ({ ...one, text: one.text && { ...one.text, isPlain: true } }));
  return { ...real, checkDocuments };
});

test.each(
  someOf(
    [
      { workers: 0, states: 4 },
      { workers: 2, states: 2 },
      { workers: 0, states: 2, layout: SMALL_LAYOUT },
    ],
    2,
  ),
)("as if it had been indexed, $workers workers", async (given) =>
  asIfIndexed({ ...given, symbols: "skip" }),
);

test("characters beyond ASCII are folded", async () => {
  const engine = await openEngine();
  await engine.index(documents({ name: "shop", files: [{ path: "a.txt", content: "hay" }] }));
  const overlay = [{ repository: "shop", path: "a.txt", content: "\u212aelvin" }];
  const { stats } = await engine.search({ query: "kelvin", matches: 1 }, { overlay });
  expect(stats.totalMatchCount).toBe(1);
});

test.each(someOf([LAYOUT, SMALL_LAYOUT], 2))(
  "in many pages of %o, each match counts once",
  async (layout) => {
    const engine = await openEngine({ workers: 2, internals: { layout } });
    await engine.index(documents({ name: "shop", files: [{ path: "a.txt", content: "hay" }] }));
    const straw = "hay and straw; ".repeat(8_000);
    const overlay = Array.from({ length: 60 }, (_, i) => {
      const word = i % 9 === 5 ? "needle in it\n" : "need in\n"; // on a page after those on which the grams are tried
      return { repository: "shop", path: `${i}.txt`, content: `${straw}${i}\n${word}${straw}` };
    });
    for (const [query, count] of [
      ["needle", 7],
      ["need", 60],
      ['"needle in" or "need in"', 60],
    ] as const) {
      const { stats } = await engine.search({ query, matches: 5 }, { overlay });
      expect([query, stats.totalMatchCount, stats.fileCount]).toEqual([query, count, count]);
      const { stats: counted } = await engine.search({ query, matches: 0 }, { overlay });
      // the page with the match, at most the page before it, and some bytes after them
      expect(counted.contentBytesLoaded).toBeLessThan(60 * (2 * layout.pageBytes + 20));
    }
  },
);
