/** Tables that threads share: each thread finds what was made for a table, whatever was added and dropped before. */

import fc from "fast-check";
import { expect, test } from "vitest";
import {
  tablesMemoryBytes,
  NOT_SHARED,
  ownBytes,
  SharedTables,
  TABLE,
} from "../../src/store/segments/shared-tables.ts";
import { bundle } from "../threads/bundle.ts";
import { killSome, race } from "../threads/races.ts";

const newSharedTablesMemory = (bytes: number) => new SharedArrayBuffer(tablesMemoryBytes(bytes));

const KIB = 1024;

/** A table that contains what it was made for. The lengths of its columns are odd, so that they need padding. */
const tableFor = (segment: number, edition: number, version: number) => ({
  states: Uint16Array.from({ length: 1 + ((segment + version) % 7) }, (_, i) => 31 * i + version),
  starts: Uint32Array.from({ length: segment % 5 }, (_, i) => 1000 * edition + i),
  blocks: Uint32Array.of(segment, edition, version),
});

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ thread: fc.nat(2), segment: fc.nat(3), edition: fc.nat(2) }),
  },
  { weight: 1, arbitrary: fc.record({ kept: fc.nat(3), edition: fc.nat(2) }) },
);

test.each([
  ["memory with room", 64 * KIB],
  ["memory that becomes full", 500],
  ["no memory", 0],
])("three threads find any tables: %s", (_, bytes) => {
  let shared = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const memory = newSharedTablesMemory(bytes);
      const threads = Array.from({ length: 3 }, () => new SharedTables(memory));
      // what a thread must find, by segment and edition; a table without room is made again each time
      const twin = new Map<string, ReturnType<typeof tableFor>>();
      for (const [version, one] of steps.entries()) {
        if ("kept" in one) {
          const isKept = (segment: number, edition: number) =>
            segment === one.kept && edition === one.edition;
          threads[0]!.dropOthers(isKept);
          for (const name of twin.keys())
            if (name !== `${one.kept} ${one.edition}`) twin.delete(name);
          continue;
        }
        const { thread, segment, edition } = one;
        const made = tableFor(segment, edition, version);
        const expected = twin.get(`${segment} ${edition}`) ?? made;
        const found = threads[thread]!.getOrMake(TABLE.SYMBOLS, { segment, edition }, () => made);
        expect({ ...found }).toEqual(expected);
        if (bytes > KIB) expect(found).not.toBe(made); // it has room
        if (found === made) continue;
        expect(ownBytes(...Object.values(found))).toBe(0);
        twin.set(`${segment} ${edition}`, expected);
        shared++;
      }
    }),
  );
  expect(shared > 100).toBe(bytes > 0);
});

test("different kinds of tables of one segment are separate", () => {
  const tables = new SharedTables(newSharedTablesMemory(KIB));
  const paths = { starts: Uint32Array.of(0, 1), bytes: Uint8Array.of(97) };
  const hashes = { hashes: Uint8Array.of(1, 2, 3) };
  const firstGrams = { firstGrams: Uint32Array.of(7) };
  for (const [kind, table] of [
    [TABLE.PATHS, paths],
    [TABLE.HASHES, hashes],
    [TABLE.GRAMS, firstGrams],
  ] as const)
    expect(tables.getOrMake(kind, { segment: 2 ** 31 + 5 }, () => table as never)).toEqual(table);
  const never = () => expect.fail("is made again");
  expect(tables.getOrMake(TABLE.PATHS, { segment: 2 ** 31 + 5 }, never)).toEqual(paths);
});

test("only columns outside shared memory are counted", () => {
  const make = () => ({ hashes: new Uint8Array(20) });
  const tables = new SharedTables(newSharedTablesMemory(KIB));
  expect(ownBytes(tables.getOrMake(TABLE.HASHES, { segment: 1 }, make).hashes)).toBe(0);
  expect(ownBytes(NOT_SHARED.getOrMake(TABLE.HASHES, { segment: 1 }, make).hashes)).toBe(20);
  expect(ownBytes(undefined, new Uint32Array(2), new Uint16Array(1))).toBe(10);
});

test("dropOthers() returns the share of the memory that is lost", () => {
  const tables = new SharedTables(newSharedTablesMemory(256 * KIB));
  const tooLarge = () => ({ hashes: new Uint8Array(256 * KIB) });
  expect(tables.dropOthers(() => false)).toBe(0);
  tables.getOrMake(TABLE.HASHES, { segment: 1 }, () => ({ hashes: new Uint8Array(200 * KIB) }));
  expect(tables.dropOthers(() => true)).toBe(0);
  expect(tables.isFull).toBe(false);
  tables.getOrMake(TABLE.HASHES, { segment: 2 }, tooLarge);
  expect(tables.isFull).toBe(true);
  const lost = tables.dropOthers(() => false);
  expect(lost).toBeCloseTo(200 / 256, 2);
  expect(tables.dropOthers(() => false)).toBe(lost);
});

test("there may be more tables than entries", () => {
  const tables = new SharedTables(newSharedTablesMemory(2 ** 20));
  const make = () => ({ hashes: new Uint8Array(1) });
  for (let segment = 0; segment < 16_384; segment++)
    tables.getOrMake(TABLE.HASHES, { segment }, make);
  expect(tables.isFull).toBe(false);
  const made = { hashes: Uint8Array.of(9) };
  expect(tables.getOrMake(TABLE.HASHES, { segment: 16_384 }, () => made)).toBe(made);
  expect(tables.isFull).toBe(true);
  expect(tables.dropOthers(() => false)).toBe(1);
});

test("a table that another thread is adding is found once it is complete", () => {
  const memory = newSharedTablesMemory(KIB);
  const words = new Int32Array(memory);
  const [one, other] = [new SharedTables(memory), new SharedTables(memory)];
  const get = (tables: SharedTables, segment: number, value: number) =>
    tables.getOrMake(TABLE.HASHES, { segment }, () => ({ hashes: Uint8Array.of(value) })).hashes[0];
  get(one, 1, 10);
  const ADDRESS = 6; // of the first entry
  const address = words[ADDRESS]!;
  words[ADDRESS] = 0;
  expect(get(other, 2, 20)).toBe(20);
  expect(get(one, 2, 21)).toBe(20);
  words[ADDRESS] = address;
  expect(get(other, 1, 11)).toBe(10);
});

test("threads may add and read the same tables at the same time, even after others were killed while doing so", async () => {
  const entry = await bundle("../store/shared-tables-race.ts");
  const memory = newSharedTablesMemory(2 ** 20);
  await killSome(entry, { memory, thread: 0 });
  for (const { asked, wrong } of await race(entry, memory)) {
    expect(asked).toBeGreaterThan(1000);
    expect(wrong).toBe(0);
  }
});
