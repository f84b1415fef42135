/** Symbols on the disk are read back as they were written, or are reported as damaged. */

import fc from "fast-check";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { GrowableBytes } from "../../src/base/growable.ts";
import { PART, segmentKey } from "../../src/store/format/format.ts";
import type { Snapshot } from "../../src/store/lmdb/environment.ts";
import { openStore } from "../../src/store/catalog/open.ts";
import type { SegmentTarget } from "../../src/store/segments/segment-target.ts";
import { SYMBOL_KINDS } from "../../src/store/symbols/symbol-kinds.ts";
import {
  decodeSymbols,
  encodeSymbols,
  isSoundTable,
  newSymbolList,
  SYMBOL_ROW,
  type SymbolTable,
} from "../../src/store/symbols/symbol-run.ts";
import { nextEdition } from "../../src/store/symbols/edition-key.ts";
import {
  joinColumns,
  unfinishedKeys,
  type Origin,
  type SymbolColumns,
} from "../../src/store/symbols/symbol-columns.ts";
import {
  openSymbols,
  otherEditions,
  headerOf,
  putEdition,
  SymbolsWriter,
} from "../../src/store/symbols/symbols.ts";

const path = mkdtempSync(join(tmpdir(), "quern-symbols-"));
const environment = await openStore(path, { readOnly: false });
afterAll(async () => {
  await environment.close();
  rmSync(path, { recursive: true, force: true });
});

const tables: fc.Arbitrary<SymbolTable> = fc
  .tuple(
    fc.uniqueArray(fc.oneof(fc.nat(200), fc.nat(2 ** 24)), { maxLength: 40 }),
    fc.nat(4),
    fc.infiniteStream(fc.nat(2 ** 20)),
  )
  .map(([starts, outsiders, random]) => {
    const count = starts.length;
    const total = count === 0 ? 0 : count + outsiders;
    const next = (below: number) => (random.next().value as number) % below;
    starts.sort((a, b) => a - b);
    const rows = Array.from({ length: total }, (_, row) => {
      const start = starts[row] ?? next(500);
      const parent = row < count ? next(total + 1) - 1 : -1;
      return [start, start + next(300), next(SYMBOL_KINDS.length), parent];
    });
    return { count, rows: Int32Array.from(rows.flat()) };
  });

const TEXT_BYTES = 2 ** 24 + 300;

function encode(table: SymbolTable): Uint8Array {
  const out = new GrowableBytes();
  encodeSymbols(table, out);
  return out.view.slice();
}

function decode(run: Uint8Array, textBytes = TEXT_BYTES): SymbolTable {
  const list = newSymbolList();
  decodeSymbols(run, textBytes, list);
  return { count: list.count, rows: list.rows.slice(0, SYMBOL_ROW * list.total) };
}

const LAST_KIND = SYMBOL_KINDS.length - 1;

test.each<[what: string, count: number, rows: number[][], isSound: boolean]>([
  ["none", 0, [], true],
  [
    "names up to the end",
    2,
    [
      [0, 5, 0, -1],
      [6, 9, LAST_KIND, 0],
    ],
    true,
  ],
  [
    "a parent that follows, and one that is no definition",
    1,
    [
      [4, 5, 0, 1],
      [0, 1, 0, -1],
    ],
    true,
  ],
  ["only parents", 0, [[0, 1, 0, -1]], true],
  ["an end behind the text", 1, [[6, 10, 0, -1]], false],
  [
    "a parent's end behind the text",
    1,
    [
      [6, 9, 0, 1],
      [7, 10, 0, -1],
    ],
    false,
  ],
  ["a start before the text", 1, [[-1, 3, 0, -1]], false],
  ["an end before the start", 1, [[3, 2, 0, -1]], false],
  [
    "two of one start",
    2,
    [
      [3, 4, 0, -1],
      [3, 5, 0, -1],
    ],
    false,
  ],
  [
    "out of order",
    2,
    [
      [3, 4, 0, -1],
      [1, 2, 0, -1],
    ],
    false,
  ],
  ["no such kind", 1, [[0, 1, LAST_KIND + 1, -1]], false],
  ["no such parent", 1, [[0, 1, 0, 1]], false],
  ["a parent below none", 1, [[0, 1, 0, -2]], false],
  ["its own parent", 1, [[0, 1, 0, 0]], false],
  [
    "a parent of what is only a parent",
    1,
    [
      [0, 1, 0, 1],
      [2, 3, 0, 0],
    ],
    false,
  ],
  ["more definitions than rows", 2, [[0, 1, 0, -1]], false],
  [
    "half a row",
    1,
    [
      [0, 1, 0, -1],
      [2, 3],
    ],
    false,
  ],
])("whether a table is valid: %s", (_, count, rows, isSound) => {
  const table = { count, rows: Int32Array.from(rows.flat()) };
  expect(isSoundTable(table, 9)).toBe(isSound);
  if (!isSound) return;
  const [run, list] = [new GrowableBytes(), newSymbolList()];
  encodeSymbols(table, run);
  decodeSymbols(run.view, 9, list);
  expect(list.count).toBe(count);
});

test("the example in the format's description is right", () => {
  const kind = (name: (typeof SYMBOL_KINDS)[number]) => SYMBOL_KINDS.indexOf(name);
  const rows = [6, 7, kind("class"), -1, 10, 11, kind("method"), 0, 17, 18, kind("method"), 0];
  const run = encode({ count: 3, rows: Int32Array.from(rows) });
  expect([...run]).toEqual([3, 0, 6, 1, 12, 3, 1, 6, 6, 1, 5]);
});

test("a run decodes to its table", () => {
  fc.assert(
    fc.property(tables, (table) => {
      expect(decode(encode(table))).toEqual(table);
    }),
  );
});

test("any bytes are a table or corrupt, and a run that is truncated or does not fit its text is corrupt", () => {
  const corrupt = expect.objectContaining({ code: "INDEX_CORRUPT" });
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      try {
        const { count, rows } = decode(bytes, 1000);
        for (let at = 0; at < rows.length; at += SYMBOL_ROW) {
          expect(rows[at + 1]).toBeLessThanOrEqual(1000);
          expect(rows[at + 1]).toBeGreaterThanOrEqual(rows[at]!);
        }
        expect(count).toBeLessThanOrEqual(20);
      } catch (error) {
        expect(error).toEqual(corrupt);
      }
    }),
  );
  fc.assert(
    fc.property(tables, (table) => {
      fc.pre(table.count > 0);
      const run = encode(table);
      expect(() => decode(run.subarray(0, -1))).toThrow(corrupt);
      expect(() => decode(run, table.rows[1]! - 1)).toThrow(corrupt);
    }),
  );
});

const ORIGINS: readonly (Origin | undefined)[] = [
  undefined,
  { language: "C", version: "c/1", outcome: "symbols" },
  { language: "C", version: "c/1", outcome: "gave-up" },
  { language: "", version: "", outcome: "none" },
];
const blobs = fc.array(fc.tuple(fc.constantFrom(...ORIGINS), tables), {
  minLength: 1,
  maxLength: 25,
});

let nextSegment = 1;

const targetOf = (segment: number): SegmentTarget => ({
  environment,
  segment,
  write: (work) => environment.writeSync(work),
});

/** Writes symbols in several ranges, as several threads do. */
async function write(
  all: readonly (readonly [Origin | undefined, SymbolTable])[],
  cut: number,
): Promise<{ segment: number; unknown: number }> {
  const segment = nextSegment++;
  const target = targetOf(segment);
  const stretches = [
    [0, all.slice(0, cut)],
    [cut, all.slice(cut)],
  ] as const;
  const columns = stretches.map(([first, part]) => {
    const writer = new SymbolsWriter(target, 1, first);
    for (const [origin, table] of part) writer.add(origin, encode(table));
    return writer.finish();
  });
  return { segment, unknown: await complete(segment, 1, joinColumns(columns)) };
}

/** Writes symbols without lists of names. */
const complete = (segment: number, edition: number, columns: SymbolColumns): Promise<number> =>
  environment.write((writer) => {
    const header = headerOf(columns);
    putEdition(writer, { segment, edition }, { header, columns });
    return header.unknown;
  });

test("the symbols and the origin of each blob are read back, in any order", async () => {
  await fc.assert(
    fc.asyncProperty(blobs, fc.nat(25), fc.boolean(), async (all, cut, isBackwards) => {
      const { segment, unknown } = await write(all, Math.min(cut, all.length));
      const snapshot = environment.snapshot();
      const reader = openSymbols(snapshot, segment, 1)!;
      const order = isBackwards ? [...all.keys()].reverse() : all.keys();
      for (const blob of order) {
        const [origin, table] = all[blob]!;
        const list = reader.definitions(snapshot, blob, TEXT_BYTES);
        expect(list.rows.slice(0, SYMBOL_ROW * list.total)).toEqual(table.rows);
        expect(reader.origin(blob)).toEqual(origin);
        expect(reader.has(blob)).toBe(table.count > 0);
      }
      expect(unknown).toBe(all.filter(([origin]) => !origin).length);
      expect(reader.header.symbols).toBe(all.reduce((sum, [, { count }]) => sum + count, 0));
      snapshot.close();
    }),
    { numRuns: 60 },
  );
});

function largeTable(count: number): SymbolTable {
  const rows = Array.from({ length: count }, (_, i) => [200 * i, 200 * i + 7, i % 9, -1]);
  return { count, rows: Int32Array.from(rows.flat()) };
}

test("runs longer than a block have their own block", async () => {
  const sizes = [1, 6000, 10, 3000, 3000, 0, 9000, 5];
  const all = sizes.map((size) => [ORIGINS[1], largeTable(size)] as const);
  const { segment } = await write(all, 3);
  const snapshot = environment.snapshot();
  const reader = openSymbols(snapshot, segment, 1)!;
  for (const [blob, size] of sizes.entries()) {
    const list = reader.definitions(snapshot, blob, TEXT_BYTES);
    expect(list.count).toBe(size);
    if (size > 0) expect(list.rows[SYMBOL_ROW * (size - 1)]).toBe(200 * (size - 1));
  }
  expect(reader.header.blocks).toBeGreaterThan(3);
  snapshot.close();
});

test("damage in any value is noticed, and so is a missing value", async () => {
  const all = [1, 6000, 10].map((size) => [ORIGINS[1], largeTable(size)] as const);
  const { segment } = await write(all, 3);
  const readAll = (): void => {
    const snapshot = environment.snapshot();
    try {
      const reader = openSymbols(snapshot, segment, 1)!;
      for (const blob of all.keys()) reader.definitions(snapshot, blob, TEXT_BYTES);
    } finally {
      snapshot.close();
    }
  };
  readAll();
  const keys = await environment.write((writer) => [
    ...writer.keys([segmentKey(segment, PART.SYMBOLS), segmentKey(segment + 1, 0)]),
  ]);
  expect(keys.length).toBeGreaterThan(3);
  for (const key of keys) {
    const raw = await environment.write((writer) => writer.get(key, "")!.slice());
    await environment.write((writer) => writer.put(key, raw.subarray(1)));
    expect(readAll).toThrow();
    await environment.write((writer) => writer.put(key, raw));
  }
  readAll();
  await environment.write((writer) => writer.remove(keys[2]!));
  expect(readAll).toThrow(expect.objectContaining({ code: "INDEX_CORRUPT" }));
});

test("keys of other editions are found", async () => {
  const segment = nextSegment++;
  const target = targetOf(segment);
  let edition = 0;
  for (let i = 0; i < 3; i++) {
    edition = nextEdition(edition);
    const writer = new SymbolsWriter(target, edition, 0);
    writer.add(ORIGINS[1], encode(largeTable(4)));
    await complete(segment, edition, writer.finish());
  }
  const editions = (): string => {
    const snapshot = environment.snapshot();
    const there = [1, 2, 3].filter((each) => openSymbols(snapshot, segment, each) !== undefined);
    snapshot.close();
    return there.join();
  };
  const remove = (keysOf: (from: Snapshot) => Iterable<Buffer>): Promise<void> => {
    const snapshot = environment.snapshot();
    const keys = [...keysOf(snapshot)];
    snapshot.close();
    return environment.write((writer) => keys.forEach((key) => writer.remove(key)));
  };
  // an interrupted run may have begun the next one
  await remove((from) => otherEditions(segment, 2).flatMap((range) => [...from.keys(range)]));
  expect(editions()).toBe("2,3");
  await remove((from) => unfinishedKeys(from, { segment, edition: 3 }, []));
  expect(editions()).toBe("2");
  expect(nextEdition(254)).toBe(1);
});
