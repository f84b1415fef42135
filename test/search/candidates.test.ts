/**
 * The pages that contain every gram of a literal are those that its lists have in common. Each list's bytes are
 * counted.
 */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countBits, emptyBitset, setBit } from "../../src/base/bitset.ts";
import { createKernel } from "../../src/kernel/kernel.ts";
import { pagesWith } from "../../src/search/thread/planning/candidates.ts";
import { seal, unseal } from "../../src/store/format/sealed.ts";
import type { Snapshot, Writer } from "../../src/store/lmdb/environment.ts";
import { listsOfText, PostingsReader, PostingsWriter } from "../../src/store/segments/postings.ts";
import { inAll, indexed, lookupIn } from "./indexed-pages.ts";

const text = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 4, maxLength: 20 });

test("intersects any lists, in any order, including grams that do not occur", () => {
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
  expect(Math.min(empty, some)).toBeGreaterThan(3); // both algorithms are used
});

/** Returns the pages as gaps. The first is counted from -1. */
function gapsOf(pages: readonly number[]): Uint8Array {
  const bytes: number[] = [];
  let last = -1;
  for (const page of pages) {
    let gap = page - last;
    for (; gap >= 0x80; gap = Math.floor(gap / 0x80)) bytes.push((gap & 0x7f) | 0x80);
    bytes.push(gap);
    last = page;
  }
  return Uint8Array.from(bytes);
}

test("a literal of more grams than one call takes", () => {
  const long = Array.from({ length: 900 }, (_, i) => (i * i * 31 + i).toString(36)).join("");
  const { bytes, grams, lookup } = indexed([long, long.slice(99), long, long.slice(0, 99)]);
  const all = [...bytes.keys()];
  expect(all.length).toBeGreaterThan(600);
  const { pages } = pagesWith(all, lookup);
  expect(pages).toEqual(inAll(all, grams));
  expect(countBits(pages!)).toBe(2);
});

describe("damage", () => {
  /** Returns a block of one list with the given words (count, gram, end) and the bytes of the list. */
  const blockOf = (words: readonly number[], list: readonly number[]) => {
    const head = Uint32Array.from(words);
    return Buffer.concat([Buffer.from(head.buffer), Buffer.from(list)]);
  };
  const BITMAP = 0x8000_0000;
  const cases: [what: string, (gram: number) => Uint8Array][] = [
    ["a gap of zero", (gram) => blockOf([1, gram, 1], [0])],
    ["a page that is not there", (gram) => blockOf([1, gram, 1], [100])],
    ["a bitmap of another length", (gram) => blockOf([1, gram + BITMAP, 2], [1, 0])],
    ["a list that ends behind the block", (gram) => blockOf([1, gram, 9], [1])],
    ["a list that ends before it begins", (gram) => blockOf([2, gram - 1, gram, 2, 1], [1, 1])],
    ["more lists than bytes", (gram) => blockOf([2 ** 30, gram, 1], [1])],
    ["a block of nothing", () => blockOf([1], [])],
    ["a block that is too long", (gram) => blockOf([1, gram, 1], Array(20_000).fill(1))],
  ];
  test.each(cases)("%s", (_, broken) => {
    const { bytes, lookup, values } = indexed(["abcd"]);
    const gram = [...bytes.keys()].at(-1)!;
    const key = listsOfText(1).block(0);
    values.set(key.toString("hex"), seal(key, broken(gram)));
    expect(() => pagesWith([gram], lookup)).toThrow("the index is damaged");
  });

  test("a block with a wrong seal, and a sound block in its place", () => {
    const { bytes, lookup, values } = indexed(["abcd"]);
    const name = listsOfText(1).block(0).toString("hex");
    const sound = values.get(name)!;
    values.set(
      name,
      sound.map((byte, i) => (i === 9 ? byte ^ 1 : byte)),
    );
    const all = [...bytes.keys()];
    expect(() => pagesWith(all, lookup)).toThrow("the index is damaged");
    values.set(name, sound);
    expect(countBits(pagesWith(all, lookup).pages!)).toBe(1);
  });
});

/** Stores lists of any pages, one for each gram. */
function stored(lists: readonly (readonly number[])[], pages: number) {
  const values = new Map<string, Uint8Array>();
  const put = (key: Buffer, ...parts: Uint8Array[]) =>
    void values.set(key.toString("hex"), seal(key, ...parts));
  const postings = new PostingsWriter(listsOfText(1), pages, createKernel());
  lists.forEach((list, gram) => postings.add(gram, gapsOf(list)));
  const blocks = postings.finish({ put } as Pick<Writer, "put"> as Writer);
  const getSealed = (key: Buffer) => values.get(key.toString("hex"));
  const get = (key: Buffer, what: string) => unseal(key, getSealed(key)!, what);
  const snapshot = { get, getSealed } as Pick<Snapshot, "get" | "getSealed"> as Snapshot;
  const reader = new PostingsReader(snapshot, listsOfText(1), blocks);
  return (grams: readonly number[]) => pagesWith(grams, lookupIn(reader, snapshot, pages)).pages;
}

test("few pages in long lists and bitmaps: of any density, with gaps of any length", () => {
  const PAGES = 5000;
  /** A list of about one page in `every`, with runs that are as long as the gaps. */
  const list = fc
    .record({ every: fc.constantFrom(2, 3, 8, 20, 60, 300, 1500), seed: fc.nat() })
    .map(({ every, seed }) => {
      let state = seed;
      const random = () => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 8;
      const pages: number[] = [];
      for (let page = random() % every; page < PAGES; page += 1 + (random() % (2 * every)))
        pages.push(page);
      return pages.length > 0 ? pages : [seed % PAGES];
    });
  const [few, some] = [{ count: 0 }, { count: 0 }];
  const cases = fc.record({
    lists: fc.array(list, { minLength: 1, maxLength: 6 }),
    common: fc.array(fc.nat(PAGES - 1), { maxLength: 30 }),
  });
  fc.assert(
    fc.property(cases, ({ lists, common }) => {
      const all = lists.map((one) => [...new Set([...one, ...common])].sort((a, b) => a - b));
      const expected = emptyBitset(PAGES);
      for (const page of all[0]!)
        if (all.every((one) => one.includes(page))) setBit(expected, page);
      expect(stored(all, PAGES)([...all.keys()])).toEqual(expected);
      (countBits(expected) > 150 ? some : few).count++;
    }),
    { numRuns: 120 },
  );
  expect(Math.min(few.count, some.count)).toBeGreaterThan(0); // both ways are taken
});

test.each<[what: string, gaps: readonly number[]]>([
  ["a gap of zero among 16", [...Array.from({ length: 15 }, () => 1), 0, 1]],
  ["a page that is not there", [3, 0xe8, 0x07]],
  ["a gap that is cut short", [3, 0x80]],
  ["a gap of more than 32 bits", [0x80, 0x80, 0x80, 0x80, 0x10]],
])("damage in a longer list than the first: %s", (_, gaps) => {
  const first = Uint8Array.from([0x80, 0x07]); // page 895
  const head = Uint32Array.from([2, 7, 8, first.length, first.length + gaps.length]);
  const block = Buffer.concat([Buffer.from(head.buffer), first, Buffer.from(gaps)]);
  const { lookup, values } = indexed(["abcd"]);
  const key = listsOfText(1).block(0);
  const directory = listsOfText(1).directory;
  values.set(key.toString("hex"), seal(key, block));
  values.set(directory.toString("hex"), seal(directory, Buffer.from(Uint32Array.of(7).buffer)));
  const reader = new PostingsReader(lookup.snapshot, listsOfText(1), 1);
  expect(() => pagesWith([7, 8], lookupIn(reader, lookup.snapshot, 900))).toThrow("damaged");
});

test("a list of pages that are not there is damage", () => {
  const rare = Array.from({ length: 40 }, (_, page) => (page === 7 ? "wxyz" : "abcd"));
  const { bytes, lookup } = indexed(rare);
  const getSealed = (key: Buffer): Uint8Array => {
    const block = Buffer.from(unseal(key, lookup.snapshot.getSealed(key)!, "it"));
    return seal(key, block.fill(0x7e, 4 + 8 * block.readUInt32LE(0)));
  };
  const hurt = { ...lookup, snapshot: { ...lookup.snapshot, getSealed } };
  const inGaps = [...bytes].filter(([, length]) => length === 1).map(([gram]) => gram);
  expect(inGaps.length).toBeGreaterThan(0);
  expect(() => pagesWith(inGaps, hurt)).toThrow(
    expect.objectContaining({ code: "INDEX_CORRUPT" }) as Error,
  );
});
