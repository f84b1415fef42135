/** Needles across and around the edges of pages, in either case and length, before and after their segments are merged. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { orbit } from "../../src/kernel/folding.ts";
import { OVERLAP, PAGE_BYTES } from "../../src/store/format/format.ts";
import { sourceOf } from "../oracle/corpus-source.ts";
import type { Corpus, CorpusRepository } from "../oracle/corpus.ts";
import { bringTo, difference } from "./corpus-engine.ts";
import { openEngine } from "./opened.ts";
import { RUNS } from "../runs.ts";

const LETTERS = "a b c Q _ - 7 k ſ \u212a é É ß Σ ς å 中 \u{10400} \u{1f600}".split(" ");

/** Needles of every length, up to more than the part of the next page that a page's grams cover. */
const needles = fc
  .oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: OVERLAP + 60 }))
  .chain((length) =>
    fc.array(fc.constantFrom(...LETTERS), { minLength: length, maxLength: length }),
  )
  .map((letters) => letters.join(""));

/** Returns the needle with each character replaced by one that folds to the same character. */
const varied = (needle: string, picks: readonly number[]): string =>
  Array.from(needle, (letter, i) => {
    const forms = orbit(letter.codePointAt(0)!);
    return String.fromCodePoint(forms[picks[i % picks.length]! % forms.length]!);
  }).join("");

interface EdgeFile {
  readonly needle: string;
  readonly picks: readonly number[];
  readonly page: number;
  /** The distance from the start of the page to the start of the needle. */
  readonly offset: number;
  readonly asciiAround: boolean;
}

const files: fc.Arbitrary<EdgeFile> = fc.record({
  needle: needles,
  picks: fc.array(fc.nat(5), { minLength: 1, maxLength: 20 }),
  page: fc.constantFrom(1, 2),
  offset: fc.integer({ min: -OVERLAP - 80, max: 10 }),
  asciiAround: fc.boolean(),
});

test("finds needles at the edges of pages", async () => {
  const engine = await openEngine({ internals: { retireMs: 0 } });
  const check = async (given: readonly EdgeFile[]) => {
    const corpus: Corpus = {
      repositories: given.map(({ needle, picks, page, offset, asciiAround }, i) => {
        const before = Buffer.alloc(page * PAGE_BYTES + offset, "z\n");
        const parts = [before, varied(needle, picks), asciiAround ? "zz" : " É", needle];
        const bytes = Buffer.concat(parts.map((part) => Buffer.from(part)));
        const revisions = [{ name: "HEAD", files: [{ path: "no-language", bytes }] }];
        return { id: i, name: `r${i}`, metadata: {}, revisions };
      }),
    };
    await bringTo(engine, { repositories: [] });
    // one segment for each
    const there: CorpusRepository[] = [];
    for (const one of corpus.repositories) {
      const [report] = await engine.index(sourceOf(one), { symbols: "skip" });
      there.push({ ...one, id: report!.repositoryId });
    }
    for (const merged of [false, true]) {
      if (merged) await engine.compact();
      for (const { needle } of given)
        for (const isCaseSensitivityEnabled of [false, true]) {
          const query = `"${needle}"`;
          const request = { query, matches: 1e6, isCaseSensitivityEnabled };
          expect(
            await difference(engine, { repositories: there }, { request, options: {} }),
          ).toBeUndefined();
        }
    }
  };
  const cases = fc.array(files, { minLength: 1, maxLength: 3 });
  await fc.assert(fc.asyncProperty(cases, check), { numRuns: 8 * RUNS, endOnFailure: true });
});
