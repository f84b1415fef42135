/** Posting lists in blocks: what was written is found again, gram by gram, and all grams in order. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { emptyBitset, setBit } from "../../src/base/bitset.ts";
import { Arena } from "../../src/kernel/arena.ts";
import { createKernel } from "../../src/kernel/kernel.ts";
import { seal, unseal } from "../../src/store/format/sealed.ts";
import { pagesWith } from "../../src/search/thread/planning/candidates.ts";
import type { Snapshot, Writer } from "../../src/store/lmdb/environment.ts";
import { pagesOfList } from "../../src/store/segments/posting-bits.ts";
import { listsOfText, PostingsReader, PostingsWriter } from "../../src/store/segments/postings.ts";
import { lookupIn } from "../search/indexed-pages.ts";

const kernel = createKernel();
const arena = new Arena(kernel);
const place = listsOfText(1);

type Lists = ReadonlyMap<number, readonly number[]>;

/** The slow twin of the kernel's encoder: returns the pages as gaps. The first is counted from -1. */
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

interface Written {
  readonly values: Map<string, Uint8Array>;
  readonly blocks: number;
}

/** Writes lists. `flushes` says whether blocks are written as soon as they are complete. */
function write(lists: Lists, pages: number, flushes = false): Written {
  const values = new Map<string, Uint8Array>();
  const put = (key: Buffer, ...parts: Uint8Array[]) =>
    void values.set(key.toString("hex"), seal(key, ...parts));
  const writer = { put } as Pick<Writer, "put"> as Writer;
  const postings = new PostingsWriter(place, pages, kernel);
  for (const [gram, of] of lists) {
    postings.add(gram, gapsOf(of));
    if (flushes && postings.pendingBlocks > 0) postings.flush(writer);
  }
  return { values, blocks: postings.finish(writer) };
}

/** Returns a snapshot that reads everything into one buffer, as lmdb does. */
function snapshotOf(values: ReadonlyMap<string, Uint8Array>): Snapshot {
  const buffer = new Uint8Array(2 ** 20);
  const getSealed = (key: Buffer) => {
    const value = values.get(key.toString("hex"));
    buffer.set(value ?? []);
    return value && buffer.subarray(0, value.length);
  };
  return {
    getSealed,
    get(key, what) {
      const value = getSealed(key);
      return value && unseal(key, value, what);
    },
    keys: () => [],
    close: () => undefined,
  };
}

const setOf = (of: readonly number[], pages: number) => {
  const set = emptyBitset(pages);
  for (const page of of) setBit(set, page);
  return set;
};

function expectRead(lists: Lists, pages: number, { values, blocks }: Written): void {
  const snapshot = snapshotOf(values);
  const reader = new PostingsReader(snapshot, place, blocks);
  const found = [...reader.all(snapshot)].map(({ gram, list }) => [
    gram,
    pagesOfList(list, pages, { kernel, arena }),
  ]);
  expect(found).toEqual([...lists].map(([gram, of]) => [gram, setOf(of, pages)]));
  for (const gram of [0, 1, ...lists.keys(), 54_871]) {
    const { pages: all } = pagesWith([gram], lookupIn(reader, snapshot, pages));
    expect(all, `gram ${gram}`).toEqual(setOf(lists.get(gram) ?? [], pages));
  }
}

const range = (length: number, step = 1): number[] => Array.from({ length }, (_, i) => i * step);

const ROWS: [what: string, pages: number, lists: [number, number[]][], blocks: number][] = [
  ["no list", 1, [], 0],
  ["one list of one page", 1, [[7, [0]]], 1],
  [
    "the lowest and the highest gram",
    9,
    [
      [0, [0]],
      [54_871, [8]],
    ],
    1,
  ],
  ["gaps where they are shorter", 1000, [[3, [0, 127, 128, 300, 999]]], 1],
  ["a bitmap where gaps are longer", 1000, [[3, range(1000)]], 1],
  ["a bitmap of a last byte that is not full", 1001, [[3, range(1001)]], 1],
  ["gaps as long as the bitmap", 64, [[3, range(8)]], 1],
  ["a gap of three bytes", 40_000, [[3, [39_999]]], 1],
  [
    "a list that is longer than a block",
    200_000,
    [
      [3, [1]],
      [4, range(200_000)],
      [5, [2]],
    ],
    3,
  ],
];

test.each(ROWS)("%s", (_, pages, lists, blocks) => {
  const written = write(new Map(lists), pages);
  expect(written.blocks).toBe(blocks);
  expectRead(new Map(lists), pages, written);
});

test("any lists are read back unchanged, whether written in one transaction or in several", () => {
  const sets = fc.uniqueArray(fc.nat(499), { minLength: 1, maxLength: 200 });
  const grams = fc.uniqueArray(fc.tuple(fc.integer({ min: 2, max: 54_870 }), sets), {
    maxLength: 400,
    selector: ([gram]) => gram,
  });
  fc.assert(
    fc.property(grams, fc.boolean(), (given, flushes) => {
      const ascending = given
        .toSorted(([a], [b]) => a - b)
        .map(([gram, of]) => [gram, of.toSorted((a, b) => a - b)] as const);
      const lists = new Map(ascending);
      expectRead(lists, 500, write(lists, 500, flushes));
    }),
    { numRuns: 50 },
  );
});

test("a directory of the wrong length, or a block that is missing, truncated or another's counts as damage", () => {
  const lists = new Map(range(3000).map((gram) => [gram, range(40, 11)]));
  const { values, blocks } = write(lists, 500);
  expect(blocks).toBeGreaterThan(1);
  expect(() => new PostingsReader(snapshotOf(values), place, blocks + 1)).toThrow("directory");
  const [first, second] = [place.block(0), place.block(1)].map((key) => key.toString("hex"));
  const damaged: [string, Uint8Array | undefined][] = [
    ["gone", undefined],
    ["cut short", values.get(first!)!.subarray(0, 100)],
    ["nothing", new Uint8Array()],
    ["another's", values.get(second!)!],
  ];
  for (const [what, value] of damaged) {
    const others = new Map(values);
    if (value) others.set(first!, value);
    else others.delete(first!);
    const snapshot = snapshotOf(others);
    const reader = new PostingsReader(snapshot, place, blocks);
    const lookup = lookupIn(reader, snapshot, 500);
    expect(() => pagesWith([0], lookup), what).toThrow("posting block 0 of segment 1");
    expect(pagesWith([2999], lookup).pages, what).toEqual(setOf(range(40, 11), 500));
  }
});
