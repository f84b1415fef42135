/** Pages that hold every gram of a literal are those that its lists have in common, and each list's bytes are counted. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { countBits, emptyBitset, setBit, type Bitset } from "../../src/base/bitset.ts";
import { Arena } from "../../src/kernel/arena.ts";
import { createGramLists } from "../../src/kernel/gram-lists.ts";
import { createKernel } from "../../src/kernel/kernel.ts";
import { pagesWith, type Lookup } from "../../src/search/thread/planning/candidates.ts";
import { seal, unseal } from "../../src/store/format/sealed.ts";
import type { Snapshot, Writer } from "../../src/store/lmdb/environment.ts";
import { listsOfText, PostingsReader, PostingsWriter } from "../../src/store/segments/postings.ts";
import type { SegmentReader } from "../../src/store/segments/segment-reader.ts";

const kernel = createKernel();
const arena = new Arena(kernel);
const place = listsOfText(1);
const lists = createGramLists(kernel, 64);

function gramsOf(text: string): Set<number> {
  const found = new Set<number>();
  lists.clear();
  lists.add(Buffer.from(text));
  lists.forEach((gram) => void found.add(gram));
  return found;
}

/** What searches look up, and the grams of each page. */
function indexed(texts: readonly string[]) {
  const grams = texts.map(gramsOf);
  lists.clear();
  for (const text of texts) lists.add(Buffer.from(text));
  const values = new Map<string, Uint8Array>();
  const put = (key: Buffer, ...parts: Uint8Array[]) =>
    void values.set(key.toString("hex"), seal(key, ...parts));
  const postings = new PostingsWriter(place, texts.length, kernel);
  const bytes = new Map<number, number>();
  lists.forEach((gram, list) => {
    postings.add(gram, list.slice());
    bytes.set(gram, Math.min(list.length, Math.ceil(texts.length / 8)));
  });
  const blocks = postings.finish({ put } as Pick<Writer, "put"> as Writer);
  const getSealed = (key: Buffer) => values.get(key.toString("hex"));
  const get = (key: Buffer, what: string) => unseal(key, getSealed(key)!, what);
  const snapshot = { get, getSealed } as Pick<Snapshot, "get" | "getSealed"> as Snapshot;
  const reader = { header: { pages: texts.length }, segment: 1 } as unknown as SegmentReader;
  const found = new PostingsReader(snapshot, place, blocks);
  const lookup: Lookup = {
    reader,
    lists: found,
    snapshot,
    kernel,
    arena,
    countInScope: countBits,
    isStopped: () => false,
    pause: () => undefined,
  };
  return { grams, bytes, lookup };
}

/** The slow twin. */
function inAll(wanted: readonly number[], pages: readonly ReadonlySet<number>[]): Bitset {
  const set = emptyBitset(pages.length);
  pages.forEach((grams, page) => {
    if (wanted.every((gram) => grams.has(gram))) setBit(set, page);
  });
  return set;
}

const text = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 4, maxLength: 20 });

test("any lists, in any order, with grams that are nowhere", () => {
  const cases = fc.record({
    texts: fc.array(text, { minLength: 1, maxLength: 80 }),
    picks: fc.array(fc.nat(), { minLength: 1, maxLength: 8 }),
    absent: fc.boolean(),
  });
  let [empty, some] = [0, 0];
  fc.assert(
    fc.property(cases, ({ texts, picks, absent }) => {
      const { grams, bytes, lookup } = indexed(texts);
      const known = [...bytes.keys()];
      const wanted = picks.map((pick) => known[pick % known.length]!);
      if (absent) wanted.splice(wanted.length >> 1, 0, known.at(-1)! + 1);
      const { pages, listBytes } = pagesWith(wanted, lookup);
      const expected = inAll(wanted, grams);
      expect(pages).toEqual(expected);
      expect(listBytes).toBe(wanted.reduce((sum, gram) => sum + (bytes.get(gram) ?? 0), 0));
      if (countBits(expected) === 0) empty++;
      else some++;
    }),
    { numRuns: 150 },
  );
  expect(Math.min(empty, some)).toBeGreaterThan(10); // both ways are taken
});
