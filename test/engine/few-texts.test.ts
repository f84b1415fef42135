/**
 * Expressions that are equivalent to a few texts, which are searched for one by one: everywhere in pages of 256 bytes,
 * across the edges of pages, where texts overlap each other, and in text that must be folded.
 */

import fc from "fast-check";
import { expect, test } from "vitest";
import type { Corpus } from "../oracle/corpus.ts";
import { bringTo, difference } from "./corpus-engine.ts";
import { openEngine, SMALL_LAYOUT } from "./opened.ts";
import { RUNS } from "../runs.ts";

const PAGE = SMALL_LAYOUT.pageBytes;

/**
 * A text longer than the part of the next page that a page's grams cover. Its last grams are not in the list of the
 * page in which it begins.
 */
const LONG = `begin${"é".repeat(100)}tasktodo`;
const QUERIES = [
  "task|asks",
  "(task|mask)s?",
  "(task|mask)s??x?",
  "ask|task|masks",
  "to|if",
  "ask|k",
  "(?i)FIXME|todo",
  "a\\nb|tasks",
  "fixme -(task|mask)",
  "(fixme|todo) (task|mask)",
  "fixme or (task|asks)",
  `fixme|${LONG}`,
  `task|todo|${LONG}`,
];
const WORDS = "task tasks masks TaSK ta\u017f\u212a fixme todo tasksx if".split(" ");

interface Placed {
  readonly word: string;
  /** The text begins this many bytes before the end of a page. */
  readonly page: number;
  readonly before: number;
}

const files = fc.array(
  fc.array(
    fc.record({
      word: fc.constantFrom(...WORDS, "a\nb", LONG),
      page: fc.integer({ min: 1, max: 4 }),
      before: fc.integer({ min: -3, max: 9 }),
    }),
    { maxLength: 6 },
  ),
  { minLength: 1, maxLength: 5 },
);

test("a few texts", async () => {
  const engine = await openEngine({ internals: { layout: SMALL_LAYOUT, retireMs: 0 } });
  const check = async (given: readonly (readonly Placed[])[]) => {
    const there = await bringTo(engine, corpusOf(given));
    for (const query of QUERIES)
      for (const isCaseSensitivityEnabled of [false, true]) {
        await engine.search({ query: "QQQ", matches: 0 }); // the cached text is dropped
        const request = { query, matches: 1e6, isRegexEnabled: true, isCaseSensitivityEnabled };
        expect(await difference(engine, there, { request, options: {} })).toBeUndefined();
      }
  };
  await fc.assert(fc.asyncProperty(files, check), { numRuns: 4 * RUNS });
});

/**
 * Returns the corpus. The filler is a segment of its own, and reading it overwrites the memory of the other segment's
 * window.
 */
function corpusOf(given: readonly (readonly Placed[])[]): Corpus {
  const contents = [[Buffer.alloc(2 ** 14, "Q")], given.map(contentOf)];
  return {
    repositories: contents.map((files, id) => {
      const named = files.map((bytes, i) => ({ path: `no-language-${i}`, bytes }));
      return { id, name: `r${id}`, metadata: {}, revisions: [{ name: "HEAD", files: named }] };
    }),
  };
}

function contentOf(words: readonly Placed[]): Buffer {
  const text = Buffer.alloc(6 * PAGE, "z\n");
  for (const { word, page, before } of words) text.write(word, page * PAGE - before);
  return text;
}
