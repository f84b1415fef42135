/** Writes, reads and merges word lists, and compares them with plain maps. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { NO_BLOB } from "../../src/store/format/format.ts";
import type { Snapshot, Writer } from "../../src/store/lmdb/environment.ts";
import type { SegmentTarget } from "../../src/store/segments/segment-target.ts";
import { entriesOf, mergedWords } from "../../src/store/words/merged-words.ts";
import { openWords, pushVarint, WordListsWriter } from "../../src/store/words/word-lists.ts";
import { GrowableBytes } from "../../src/base/growable.ts";

type Lists = ReadonlyMap<string, readonly (readonly [blob: number, windows: number])[]>;

/** A segment whose values are in a map. */
class Values {
  readonly map = new Map<string, Buffer>();
  readonly snapshot = {
    get: (key: Buffer) => this.map.get(key.toString("hex")),
  } as unknown as Snapshot;
  readonly target = {
    segment: 3,
    write: (work: (writer: Writer) => unknown) =>
      work({
        put: (key: Buffer, ...parts: Uint8Array[]) =>
          void this.map.set(key.toString("hex"), Buffer.concat(parts)),
      } as unknown as Writer),
  } as unknown as SegmentTarget;

  constructor(lists: Lists, blobs: number) {
    const writer = new WordListsWriter(this.target, 1);
    for (const stem of [...lists.keys()].sort()) writer.add(stem, encoded(lists.get(stem)!));
    writer.finish(blobs);
  }

  get words() {
    return openWords(this.snapshot, { segment: 3, version: 1 })!;
  }
}

function encoded(entries: readonly (readonly [number, number])[]): Uint8Array {
  const bytes = new GrowableBytes();
  let last = -1;
  for (const [blob, windows] of entries) {
    pushVarint(bytes, blob - last);
    bytes.pushByte(windows);
    last = blob;
  }
  return bytes.view.slice();
}

const stem = fc.oneof(
  fc.stringMatching(/^[a-c]{1,6}$/),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }),
);
const blobs = (most: number) =>
  fc
    .uniqueArray(fc.nat(most - 1), { minLength: 1, maxLength: most })
    .map((each) => each.sort((a, b) => a - b));
const listsOf = (most: number): fc.Arbitrary<Lists> =>
  fc
    .array(fc.tuple(stem, blobs(most), fc.integer({ min: 1, max: 255 })), { maxLength: 40 })
    .map(
      (rows) =>
        new Map(
          rows.map(([name, each, windows]) => [name, each.map((blob) => [blob, windows] as const)]),
        ),
    );

test("reads what was written, by stem and by prefix", () => {
  fc.assert(
    fc.property(listsOf(300), fc.constantFrom("", "a", "ab", "abc", "z"), (lists, prefix) => {
      const { words, snapshot } = new Values(lists, 300);
      const all = [...words.all(snapshot)].map(([name, list]) => [name, [...entriesOf(list)]]);
      expect(all).toEqual([...lists].sort(([a], [b]) => (a < b ? -1 : 1)));
      const found: string[] = [];
      words.withPrefix(snapshot, prefix, (name) => void found.push(name));
      expect(found).toEqual([...lists.keys()].filter((name) => name.startsWith(prefix)).sort());
      for (const name of [...lists.keys(), "absent"]) {
        let entries: unknown;
        words.find(snapshot, name, (list) => (entries = [...entriesOf(list)]));
        expect(entries).toEqual(lists.get(name));
      }
    }),
  );
});

test("long lists are stored by themselves", () => {
  const long = Array.from({ length: 5000 }, (_, blob) => [blob, 1 + (blob % 255)] as const);
  const lists: Lists = new Map([
    ["a", [[1, 1]]],
    ["b", long],
    ["c", [[4999, 7]]],
  ]);
  const { words, snapshot } = new Values(lists, 5000);
  expect(words.header.longLists).toBe(1);
  expect(
    [...words.all(snapshot)].map(([name, list]) => [name, [...entriesOf(list)].length]),
  ).toEqual([
    ["a", 1],
    ["b", 5000],
    ["c", 1],
  ]);
});

test("the example of the format", () => {
  const both = [
    [0, 1],
    [2, 10],
  ] as const;
  const values = new Values(
    new Map([
      ["lin", both],
      ["pars", both],
    ]),
    3,
  );
  const block = [...values.map].find(([key]) => key.endsWith("0e01000002"))![1];
  expect(block.toString("hex")).toBe("00036c696e040101020a000470617273040101020a");
});

test("merged lists have the new numbers of the blobs that are not left out", () => {
  const source = fc.tuple(listsOf(40), fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }));
  fc.assert(
    fc.property(fc.array(source, { minLength: 1, maxLength: 4 }), (sources) => {
      let next = 0;
      const expected = new Map<string, (readonly [number, number])[]>();
      const inputs = sources.map(([lists, isKept]) => {
        const numbers = Uint32Array.from(isKept, (keep) => (keep ? next++ : NO_BLOB));
        for (const [name, entries] of lists)
          for (const [blob, windows] of entries)
            if (numbers[blob] !== NO_BLOB)
              expected.set(name, [...(expected.get(name) ?? []), [numbers[blob]!, windows]]);
        const { words, snapshot } = new Values(lists, 40);
        return { blobs: numbers, lists: words.all(snapshot) };
      });
      const merged = [...mergedWords(inputs, NO_BLOB)].map(([name, list]) => [
        name,
        [...entriesOf(list)],
      ]);
      expect(merged).toEqual([...expected].sort(([a], [b]) => (a < b ? -1 : 1)));
    }),
  );
});
