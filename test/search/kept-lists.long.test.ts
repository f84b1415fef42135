/** Lists that threads share. Lookups with them find the same as lookups with the data file alone. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countBits, emptyBitset, setBit } from "../../src/base/bitset.ts";
import { createKernel } from "../../src/kernel/kernel.ts";
import { pagesWith, type Lookup } from "../../src/search/thread/planning/candidates.ts";
import { seal, unseal } from "../../src/store/format/sealed.ts";
import type { Snapshot, Writer } from "../../src/store/lmdb/environment.ts";
import { FIRST_MEMORY_SEGMENT } from "../../src/store/format/format.ts";
import { KeptLists, newKeptListsMemory } from "../../src/store/segments/kept-lists.ts";
import { listsOfText, PostingsReader, PostingsWriter } from "../../src/store/segments/postings.ts";
import { bundle } from "../threads/bundle.ts";
import { killSome, race } from "../threads/races.ts";
import { inAll, indexed } from "./indexed-pages.ts";

const KIB = 1024;
/** Returns memory with this many bytes for lists, in addition to what the module reserves and the table of sets. */
const roomFor = (bytes: number) => newKeptListsMemory(3 * 64 * KIB + bytes);

const text = fc.string({ unit: fc.constantFrom("a", "b", "c", "d"), minLength: 4, maxLength: 20 });
const texts = fc.array(text, { minLength: 1, maxLength: 300 });
const picks = fc.array(fc.nat(), { minLength: 1, maxLength: 8 });

/** Returns grams that occur, chosen by numbers, and perhaps one that does not occur. */
function wanted(bytes: ReadonlyMap<number, number>, numbers: readonly number[]): number[] {
  const known = [...bytes.keys(), Math.max(...bytes.keys()) + 1];
  return numbers.map((number) => known[number % known.length]!);
}

const place = (segment: number, edition: number) => ({ ...listsOfText(segment), edition });

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

const readsNothing = (lookup: Lookup): Lookup => ({
  ...lookup,
  snapshot: {
    ...lookup.snapshot,
    getSealed: () => {
      throw new Error("the data file was read");
    },
  },
});

test("any lists of any segments, in two threads, are those of the data file", () => {
  const cases = fc.array(fc.record({ texts, asked: fc.array(picks, { maxLength: 4 }) }), {
    minLength: 1,
    maxLength: 4,
  });
  let [empty, some] = [0, 0];
  fc.assert(
    fc.property(cases, (segments) => {
      const memory = newKeptListsMemory(2 ** 24);
      const threads = [new KeptLists(memory), new KeptLists(memory)];
      for (const [number, { texts: pages, asked }] of segments.entries()) {
        const { bytes, grams, lookup } = indexed(pages, place(1 + (number >> 1), number & 1));
        for (const numbers of asked) {
          const all = wanted(bytes, numbers);
          const [first, second] = threads;
          const read = pagesWith(all, lookup);
          expect(pagesWith(all, { ...lookup, kept: first })).toEqual(read);
          expect(read.pages).toEqual(inAll(all, grams));
          // the other thread finds them there
          const { lists } = indexed(pages, place(1 + (number >> 1), number & 1)).lookup;
          expect(pagesWith(all, { ...readsNothing(lookup), lists, kept: second })).toEqual(read);
          if (countBits(read.pages!) === 0) empty++;
          else some++;
        }
      }
    }),
    { numRuns: 60 },
  );
  expect(Math.min(empty, some)).toBeGreaterThan(10); // both ways are taken
});

test("a literal of more grams than one call takes", () => {
  const long = Array.from({ length: 900 }, (_, i) => (i * i * 31 + i).toString(36)).join("");
  const { bytes, grams, lookup } = indexed([long, long.slice(99), long, long.slice(0, 99)]);
  const all = [...bytes.keys()];
  expect(all.length).toBeGreaterThan(600);
  const kept = new KeptLists(newKeptListsMemory(2 ** 24));
  const read = pagesWith(all, lookup);
  expect(read.pages).toEqual(inAll(all, grams));
  expect(countBits(read.pages!)).toBe(2);
  expect(pagesWith(all, { ...lookup, kept })).toEqual(read);
  expect(pagesWith(all, { ...readsNothing(lookup), kept })).toEqual(read);
});

describe("memory that is full", () => {
  test("what has no room is read from the data file, and there is room after clear()", () => {
    const { bytes, lookup } = indexed(["abcd", "bcde", "xyzw"]);
    const all = [...bytes.keys()].slice(0, 2);
    const read = pagesWith(all, lookup);
    const kept = new KeptLists(roomFor(64 * KIB));
    for (let segment = 2; !kept.isFull; segment++) {
      const other = indexed(["abcd", "bcde", "xyzw"], listsOfText(segment));
      expect(pagesWith(all, { ...other.lookup, kept })).toEqual(read);
    }
    expect(pagesWith(all, { ...lookup, kept })).toEqual(read);
    expect(() => pagesWith(all, { ...readsNothing(lookup), kept })).toThrow("was read");
    kept.clear();
    expect(kept.isFull).toBe(false);
    expect(pagesWith(all, { ...lookup, kept })).toEqual(read);
    expect(pagesWith(all, { ...readsNothing(lookup), kept })).toEqual(read);
  });

  test("memory with no room at all", () => {
    const { bytes, lookup } = indexed(["abcd", "bcde"]);
    const kept = new KeptLists(roomFor(0));
    for (const gram of bytes.keys())
      expect(pagesWith([gram], { ...lookup, kept })).toEqual(pagesWith([gram], lookup));
  });
});

test("lists under a number that others had before", () => {
  const kept = new KeptLists(newKeptListsMemory(2 ** 24));
  for (const pages of [["abcd", "bcde"], ["zyxw"], ["abcd", "bcde", "zyxw"]]) {
    kept.dropOthers((segment, edition) => segment === 1 && edition === 6);
    const { bytes, lookup } = indexed(pages, place(1, 7));
    for (const gram of bytes.keys())
      expect(pagesWith([gram], { ...lookup, kept })).toEqual(pagesWith([gram], lookup));
  }
});

test("nothing of segments in memory is kept: their numbers belong to one overlay", () => {
  const { bytes, lookup } = indexed(["abcd"], listsOfText(FIRST_MEMORY_SEGMENT));
  const all = [...bytes.keys()];
  const kept = new KeptLists(newKeptListsMemory(2 ** 24));
  expect(pagesWith(all, { ...lookup, kept })).toEqual(pagesWith(all, lookup));
  expect(() => pagesWith(all, { ...readsNothing(lookup), kept })).toThrow("was read");
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
  ];
  test.each(cases)("%s", (_, broken) => {
    const { bytes, lookup, values } = indexed(["abcd"]);
    const gram = [...bytes.keys()].at(-1)!;
    const key = listsOfText(1).block(0);
    values.set(key.toString("hex"), seal(key, broken(gram)));
    const kept = new KeptLists(newKeptListsMemory(2 ** 24));
    expect(() => pagesWith([gram], { ...lookup, kept })).toThrow("the index is damaged");
  });

  test("a block with a wrong seal is not kept", () => {
    const { bytes, lookup, values } = indexed(["abcd"]);
    const name = listsOfText(1).block(0).toString("hex");
    const sound = values.get(name)!;
    values.set(
      name,
      sound.map((byte, i) => (i === 9 ? byte ^ 1 : byte)),
    );
    const kept = new KeptLists(newKeptListsMemory(2 ** 24));
    const all = [...bytes.keys()];
    expect(() => pagesWith(all, { ...lookup, kept })).toThrow("the index is damaged");
    values.set(name, sound);
    expect(pagesWith(all, { ...lookup, kept })).toEqual(pagesWith(all, lookup));
  });
});

test("threads that add and read the same lists at the same time, after others were killed doing so", async () => {
  const entry = await bundle("../search/kept-lists-race.ts");
  const memory = newKeptListsMemory(2 ** 24);
  await killSome(entry, { memory, thread: 0 });
  for (const { asked, wrong } of await race(entry, memory)) {
    expect(asked).toBeGreaterThan(100);
    expect(wrong).toBe(0);
  }
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
  const kept = new KeptLists(newKeptListsMemory(2 ** 24));
  return (grams: readonly number[]) => {
    return reader.findKept(snapshot, grams, { pages, kept })!.pages;
  };
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
    { numRuns: 200 },
  );
  expect(Math.min(few.count, some.count)).toBeGreaterThan(3); // both ways are taken
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
  const kept = new KeptLists(newKeptListsMemory(2 ** 24));
  expect(() => reader.findKept(lookup.snapshot, [7, 8], { pages: 900, kept })).toThrow("damaged");
});

test("a list of pages that are not there is damage, whoever reads it", () => {
  const rare = Array.from({ length: 40 }, (_, page) => (page === 7 ? "wxyz" : "abcd"));
  const { bytes, lookup } = indexed(rare);
  const getSealed = (key: Buffer): Uint8Array => {
    const block = Buffer.from(unseal(key, lookup.snapshot.getSealed(key)!, "it"));
    return seal(key, block.fill(0x7e, 4 + 8 * block.readUInt32LE(0)));
  };
  const hurt = { ...lookup, snapshot: { ...lookup.snapshot, getSealed } };
  const inGaps = [...bytes].filter(([, length]) => length === 1).map(([gram]) => gram);
  expect(inGaps.length).toBeGreaterThan(0);
  const damaged = expect.objectContaining({ code: "INDEX_CORRUPT" }) as Error;
  for (const kept of [undefined, new KeptLists(newKeptListsMemory(2 ** 24))]) {
    // each has a reader of its own: what was verified is not verified again
    const { lists } = indexed(rare).lookup;
    expect(() => pagesWith(inGaps, { ...hurt, lists, kept })).toThrow(damaged);
  }
});
