/** Searches give the same answer and counters, whatever text is kept in memory; trim() releases that text. */

import fc from "fast-check";
import { expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import type { SearchRequest } from "../../src/search/messages/request.ts";
import { PAGE_BYTES } from "../../src/store/format/format.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { CONTEXTS, searchStates, type SearchState } from "../oracle/queries.ts";
import { bringTo, difference, moveViewer, streamDifference } from "./corpus-engine.ts";
import { openEngine } from "./opened.ts";
import { RUNS } from "../runs.ts";

const MIB = 2 ** 20;
/** Sizes of the cache: none, one page, some pages, and everything. */
const SIZES = [0, 8_400, 90_000, 64 * MIB];
const contexts = (name: string) => CONTEXTS[name];

/** The number of times a search is repeated, so that pages are noted, kept, and read from memory. */
const TIMES = 4;

const CASES = SIZES.flatMap((textCache) => [0, 2].map((workers) => ({ textCache, workers })));

// of each size with threads or without
test.each(CASES.filter((_, n) => RUNS > 1 || n % 4 === 0 || n % 4 === 3))(
  "any query, $textCache bytes and $workers workers",
  async (given) => {
    const engine = await openEngine({ ...given, contexts });
    const check = async ({ corpus, asked }: SearchState) => {
      const there = await bringTo(engine, corpus);
      for (let time = 0; time < TIMES; time++)
        for (const one of asked) {
          const moved = { ...one, options: moveViewer(one.options, corpus, there) };
          expect(await difference(engine, there, moved)).toBeUndefined();
          if (time === TIMES - 1)
            expect(await streamDifference(engine, there, moved)).toBeUndefined();
          if (time === 1) engine.trim();
        }
    };
    await fc.assert(fc.asyncProperty(searchStates(3), check), { numRuns: 2 * RUNS });
  },
);

/** Returns files of several pages, with words at and across the edges of pages. */
const large = () =>
  documents({
    name: "large",
    files: Array.from({ length: 24 }, (_, file) => {
      const bytes = Buffer.alloc((1 + (file % 4)) * PAGE_BYTES + 37 * file, "lorem ipsum\n");
      for (let page = 0; page * PAGE_BYTES < bytes.length; page++)
        for (const offset of [-130, -9, -1, 0, 1, 4000, 8100]) {
          const at = Math.max(0, page * PAGE_BYTES + offset);
          if (at < bytes.length) bytes.write(`needle${(file + page) % 5}`, at);
        }
      return { path: `f${file}`, content: bytes.toString() };
    }),
  });

const QUESTIONS: SearchRequest[] = [
  { query: "needle3", matches: 1000, contextLines: 2 },
  { query: "needle3 needle4", matches: 7 },
  { query: "ne+dle[24]", matches: 1000, isRegexEnabled: true },
  { query: "^ipsum needle", matches: 5, isRegexEnabled: true },
  { query: "needle1 -needle2", matches: 50, whole: true },
  { query: "not-there", matches: 1 },
];

/** Resolves to the answers without times. */
async function answers(engine: Engine): Promise<unknown[]> {
  const all: unknown[] = [];
  for (const question of QUESTIONS) {
    const { stats, ...rest } = await engine.search(question);
    const { duration, wait, matchTreeConstruction, matchTreeSearch, ...counted } = stats;
    expect(Math.min(duration, wait, matchTreeConstruction, matchTreeSearch)).toBeGreaterThan(-1);
    all.push({ ...rest, counted });
  }
  return all;
}

test.each([0, 2])("pages and their edges, %i workers", async (workers) => {
  const expected: unknown[] = [];
  for (const textCache of SIZES) {
    const engine = await openEngine({ workers, textCache });
    await engine.index(large());
    for (let time = 0; time < TIMES; time++) {
      expected.push(await answers(engine));
      expect(expected.at(-1)).toEqual(expected[0]);
    }
  }
});

test.each([0, 1])("trim() at any moment, %i workers", async (workers) => {
  const engine = await openEngine({ workers, textCache: MIB });
  engine.trim(); // nothing has begun
  await engine.index(large());
  const expected = await answers(engine);
  for (let time = 0; time < 10; time++) {
    const running = answers(engine);
    engine.trim();
    expect(await running).toEqual(expected);
    engine.trim();
  }
  engine.trim();
  await engine.close();
  expect(() => engine.trim()).toThrow(expect.objectContaining({ code: "ENGINE_CLOSED" }));
});
