/**
 * Segments as objects: equal content has one key, a segment that was read back answers as before, and damage is
 * refused.
 */

import { createCipheriv, createHash, hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import fc from "fast-check";
import { describe as group, expect, onTestFinished, test, vi } from "vitest";
import {
  damaged,
  decodeBundle,
  fetchTables,
  sendBundle,
  type Bundle,
  type Value,
} from "../../src/cluster/objects/bundle.ts";
import { directorySegments } from "../../src/cluster/objects/directory-segments.ts";
import {
  deleteSegment,
  deleteSymbols,
  fetchSegment,
  fetchSegmentRest,
  fetchSegmentTables,
  fetchSymbols,
  fetchSymbolsHeader,
  fetchSymbolsRest,
  sendSegment,
  sendSymbols,
} from "../../src/cluster/objects/segment-object.ts";
import type { SegmentStore } from "../../src/cluster/objects/segment-store.ts";
import { documents, open, type Engine } from "../../src/index.ts";
import { openStore } from "../../src/store/catalog/open.ts";
import {
  putManifest,
  readManifest,
  type Manifest,
  type ManifestSegment,
} from "../../src/store/catalog/manifest.ts";
import {
  HASH_BYTES,
  isTextKey,
  PART,
  partOfKey,
  segmentKey,
  segmentRange,
  SEGMENTS_RANGE,
} from "../../src/store/format/format.ts";
import { openSegment } from "../../src/store/segments/segment-reader.ts";
import { encodeHeader } from "../../src/store/segments/segment-tables.ts";
import type { Environment } from "../../src/store/lmdb/environment.ts";
import { bringTo, difference, moveViewer } from "../engine/corpus-engine.ts";
import { openEngine, temporaryFolder } from "../engine/opened.ts";
import { RUNS, someOf } from "../runs.ts";
import { CONTEXTS, searchStates } from "../oracle/queries.ts";

const contexts = (name: string) => CONTEXTS[name];

async function storeAt(path: string): Promise<Environment> {
  const environment = await openStore(path, { readOnly: false });
  onTestFinished(() => environment.close());
  return environment;
}

function manifestOf(environment: Environment): Manifest {
  const snapshot = environment.snapshot();
  try {
    return readManifest(snapshot);
  } finally {
    snapshot.close();
  }
}

/** Copies everything except segments. */
async function copyCatalog(from: Environment, to: Environment): Promise<void> {
  const snapshot = from.snapshot();
  const end = SEGMENTS_RANGE[0];
  const values = [...snapshot.keys([Buffer.of(1), end])];
  const read = values.map((key) => ({
    key: Buffer.from(key),
    value: Buffer.from(snapshot.get(key, "a value")!),
  }));
  snapshot.close();
  const manifest = manifestOf(from);
  // objects have no word lists
  const segments = manifest.segments.map((one) => ({ ...one, words: undefined }));
  await to.write((writer) => {
    for (const { key, value } of read) writer.put(key, value);
    putManifest(writer, { ...manifest, segments });
  });
}

/** Copies all segments through a store of objects. */
async function transfer(from: Environment, to: Environment, store: SegmentStore): Promise<void> {
  for (const { segment, symbols: edition } of manifestOf(from).segments) {
    const { key } = await sendSegment(from, segment, store);
    await fetchSegment(to, { key, segment }, store);
    if (edition === 0) continue;
    const symbols = await sendSymbols(from, { segment, edition }, store);
    await fetchSymbols(to, { key: symbols.key, segment, edition }, store);
  }
  await copyCatalog(from, to);
}

async function copyOf(engine: Engine): Promise<Engine> {
  const [path, objects] = [temporaryFolder(), temporaryFolder()];
  const from = await openStore(engine.path, { readOnly: false });
  const to = await openStore(path, { readOnly: false });
  await transfer(from, to, directorySegments(objects));
  await Promise.all([from.close(), to.close()]);
  return openEngine({ contexts, workers: 0 }, path);
}

test("a copy through objects answers as brute force does", async () => {
  const engine = await openEngine({ contexts, workers: 0 });
  const property = fc.asyncProperty(searchStates(8), async ({ corpus, asked }) => {
    const there = await bringTo(engine, corpus); // no symbols: the oracle has none for random texts
    const copy = await copyOf(engine);
    expect(await copy.check()).toMatchObject({ ok: true });
    for (const one of asked) {
      const moved = { ...one, options: moveViewer(one.options, corpus, there) };
      expect(await difference(copy, there, moved)).toBeUndefined();
    }
    await copy.close();
  });
  await fc.assert(property, { numRuns: 3 * RUNS });
});

const source = (name: string, count: number) =>
  documents({
    name,
    files: Array.from({ length: count }, (_, n) => ({
      path: `src/file${n}.ts`,
      content:
        `export function made${n}() { return ${n}; }\n// ${"filling ".repeat(n % 97)}\n`.repeat(20),
    })),
  });

/** Makes an engine's directory with one segment and its symbols. */
async function indexed(count = 300): Promise<Environment> {
  const path = temporaryFolder();
  const engine = await open(path, { workers: 0 });
  await engine.index(source("shop", count), { words: "skip" });
  await engine.close();
  return storeAt(path);
}

const bytesOf = async (store: SegmentStore, key: string): Promise<Buffer> => {
  const pieces: Uint8Array[] = [];
  for await (const piece of await store.get(key)) pieces.push(piece);
  return Buffer.concat(pieces);
};

group("one segment", () => {
  test("equal content has the same key on two machines, under any segment number", async () => {
    const [one, other] = [await indexed(), await indexed()];
    const store = directorySegments(temporaryFolder());
    const [{ segment, symbols: edition }] = manifestOf(one).segments as [Manifest["segments"][0]];
    const { key, bytes } = await sendSegment(one, segment, store);
    expect(await sendSegment(other, segment, store)).toEqual({ key, bytes });
    const packed = await bytesOf(store, key);
    expect(2 * packed.length).toBeLessThan(bytes);
    const values: Value[] = [];
    for await (const value of decodeBundle(key, 1, oneByOne(packed))) values.push(value);
    expect(values.reduce((sum, value) => sum + 9 + value.bytes.length, 0)).toBe(bytes);
    const names = await sendSymbols(one, { segment, edition }, store);
    await fetchSegment(other, { key, segment: 4_000_000 }, store);
    await fetchSymbols(other, { key: names.key, segment: 4_000_000, edition: 9 }, store);
    expect((await sendSegment(other, 4_000_000, store)).key).toBe(key);
    expect(await sendSymbols(other, { segment: 4_000_000, edition: 9 }, store)).toEqual(names);
    expect((await indexed(299).then((less) => sendSegment(less, segment, store))).key).not.toBe(
      key,
    );
  });

  test("tables come before lists and text", async () => {
    const environment = await indexed(1000);
    const store = directorySegments(temporaryFolder());
    const { key } = await sendSegment(environment, 1, store);
    const tags: number[] = [];
    for await (const { tag } of decodeBundle(key, 1, await store.get(key)))
      if (tags.at(-1) !== tag) tags.push(tag);
    expect(tags).toEqual([0, 2, 3, 4, 7, 8, 5, 6, 1]);
  });

  test("deleting removes exactly the keys of the segment or its symbols", async () => {
    const environment = await indexed();
    const store = directorySegments(temporaryFolder());
    const keys = () => {
      const snapshot = environment.snapshot();
      const all = [...snapshot.keys(SEGMENTS_RANGE)].map((key) => key.toString("hex"));
      snapshot.close();
      return all;
    };
    const before = keys();
    const edition = manifestOf(environment).segments[0]!.symbols;
    const { key } = await sendSegment(environment, 1, store);
    const symbols = await sendSymbols(environment, { segment: 1, edition }, store);
    await fetchSegment(environment, { key, segment: 2 }, store);
    const withSegment = keys();
    await fetchSymbols(environment, { key: symbols.key, segment: 2, edition: 3 }, store);
    await deleteSymbols(environment, { segment: 2, edition: 3 });
    expect(keys()).toEqual(withSegment);
    expect(withSegment.length).toBeGreaterThan(before.length);
    await deleteSegment(environment, 2);
    expect(keys()).toEqual(before);
  });

  test("tables and the rest, fetched separately, are complete, and remains of a damaged fetch are deleted", async () => {
    const environment = await indexed();
    const store = directorySegments(temporaryFolder());
    const edition = manifestOf(environment).segments[0]!.symbols;
    const [segment, symbols] = [
      await sendSegment(environment, 1, store),
      await sendSymbols(environment, { segment: 1, edition }, store),
    ];
    const numbered = ([whole, parts]: readonly [number, number]) => ({
      whole: { key: segment.key, segment: whole },
      parts: { key: segment.key, segment: parts },
      names: { key: symbols.key, segment: whole, edition },
      nameParts: { key: symbols.key, segment: parts, edition },
    });
    const { whole, parts, names, nameParts } = numbered([2, 3]);
    await fetchSegment(environment, whole, store);
    await fetchSymbols(environment, names, store);
    await fetchSegmentTables(environment, parts, store);
    await fetchSymbolsHeader(environment, nameParts, store);
    const tables = valuesOf(environment, 3);
    expect(tables.length).toBe(2 + 6 + 1); // two copies of the header, tables, and the header of the symbols
    const extra = segmentKey(3, PART.TEXT, 9_999);
    await environment.write((writer) => writer.put(extra, Buffer.from("of a damaged object")));
    const broken: SegmentStore = {
      ...store,
      get: async (key) => oneByOne((await bytesOf(store, key)).subarray(0, -1)),
    };
    await expect(fetchSegmentRest(environment, parts, broken)).rejects.toThrow("is damaged");
    await expect(fetchSymbolsRest(environment, nameParts, broken)).rejects.toThrow("is damaged");
    expect(valuesOf(environment, 3)).toEqual(expect.arrayContaining(tables));
    await fetchSegmentRest(environment, parts, store);
    await fetchSymbolsRest(environment, nameParts, store);
    expect(valuesOf(environment, 3)).toEqual(valuesOf(environment, 2));
  });

  test("borrowed content is sent with its segment, and is never borrowed from the receiving machine", async () => {
    const path = temporaryFolder();
    const engine = await open(path, { workers: 0 });
    for (const name of ["shop", "shop-work-tree"])
      await engine.index(source(name, 300), { words: "skip" });
    await engine.close();
    const [from, to] = [await storeAt(path), await indexed(3)];
    const [lender, borrower] = manifestOf(from).segments as [ManifestSegment, ManifestSegment];
    expect(borrower.content).toBe(lender.segment);
    const store = directorySegments(temporaryFolder());
    const { key } = await sendSegment(from, borrower.segment, store);
    await fetchSegment(to, { key, segment: 8 }, store);
    const snapshot = to.snapshot();
    const reader = openSegment(snapshot, 8)!;
    expect([reader.header.content, reader.header.files]).toEqual([8, 300]);
    const hashes = reader.hashes(snapshot);
    const hash = createHash("sha256").update(reader.blobText(snapshot, 299)).digest();
    expect(hash.subarray(0, HASH_BYTES)).toEqual(Buffer.from(hashes.subarray(299 * HASH_BYTES)));
    snapshot.close();

    const values: Value[] = [];
    for await (const value of decodeBundle(key, 1, await store.get(key)))
      values.push({ ...value, bytes: Uint8Array.from(value.bytes) });
    values[0] = { ...values[0]!, bytes: Buffer.concat(encodeHeader(9, reader.header)) };
    const bundle = { kind: 1, tables: () => values, rest: () => [] };
    const hostile = await sendBundle(store, "seg", bundle);
    const refused = fetchSegment(to, { key: hostile.key, segment: 9 }, store);
    await expect(refused).rejects.toThrow(damaged(hostile.key).message);
  });

  const DAMAGES: readonly (readonly [string, (bytes: Buffer) => Buffer])[] = [
    ["a byte of its text", (bytes) => flipped(bytes, bytes.length - 9)],
    ["its first byte", (bytes) => flipped(bytes, 0)],
    ["its version", (bytes) => flipped(bytes, 5)],
    ["its kind", (bytes) => flipped(bytes, 6)],
    ["the length of a section", (bytes) => flipped(bytes, 7)],
    ["the checksum of a section", (bytes) => flipped(bytes, 50)],
    ["the length of its tables", (bytes) => flipped(bytes, HEAD_BYTES - 4)],
    ["the length of a block", (bytes) => flipped(bytes, HEAD_BYTES)],
    ["a block of four GiB", (bytes) => (bytes.writeUInt32LE(0xffff_ffff, HEAD_BYTES), bytes)],
    ["an empty block", (bytes) => (bytes.writeUInt32LE(0, HEAD_BYTES), bytes)],
    ["its end", (bytes) => bytes.subarray(0, -1)],
    ["its second half", (bytes) => bytes.subarray(0, bytes.length >> 1)],
    ["everything after its head", (bytes) => bytes.subarray(0, HEAD_BYTES)],
    ["all of it", () => Buffer.alloc(0)],
    ["a byte after its end", (bytes) => Buffer.concat([bytes, Buffer.of(255)])],
    ["an object of version 1", () => Buffer.from("quern\u0001\u0001\u00ff")],
  ];

  test.each(someOf(DAMAGES, 3))("damage causes INDEX_CORRUPT: %s", async (_, damage) => {
    const environment = await indexed(30);
    const store = directorySegments(temporaryFolder());
    const { key } = await sendSegment(environment, 1, store);
    const spoilt = damage(await bytesOf(store, key));
    const broken = { ...store, get: async () => oneByOne(spoilt) };
    await expect(fetchSegment(environment, { key, segment: 7 }, broken)).rejects.toMatchObject({
      code: "INDEX_CORRUPT",
      message: expect.stringContaining(key) as string,
    });
  });

  test("an object that never ends fails with INDEX_CORRUPT once its values are read", async () => {
    const environment = await indexed(30);
    const store = directorySegments(temporaryFolder());
    const { key, bytes } = await sendSegment(environment, 1, store);
    let sent = 0;
    let hasEnded = false;
    const body = async function* () {
      try {
        yield* oneByOne(await bytesOf(store, key));
        for (; sent < 10_000_000; sent += 1000) yield Buffer.alloc(1000);
      } finally {
        hasEnded = true;
      }
    };
    const broken = { ...store, get: async () => body() };
    const refused = fetchSegment(environment, { key, segment: 7, bytes }, broken);
    await expect(refused).rejects.toThrow(damaged(key).message);
    expect(sent).toBeLessThan(10_000);
    expect(hasEnded).toBe(true);
  });

  test("an error of the store is passed on", async () => {
    const environment = await indexed(30);
    const store = directorySegments(temporaryFolder());
    const { key } = await sendSegment(environment, 1, store);
    const body = async function* () {
      yield (await bytesOf(store, key)).subarray(0, 300);
      throw new Error("the line broke");
    };
    const broken = { ...store, get: async () => body() };
    const refused = fetchSegment(environment, { key, segment: 7 }, broken);
    await expect(refused).rejects.toThrow("the line broke");
  });

  test("text in a file arrives in a file, with the tables or after them", async () => {
    const environment = await indexed(300);
    const store = directorySegments(temporaryFolder());
    const { key } = await sendSegment(environment, 1, store);
    const [whole, parts] = [2, 3];
    await fetchSegment(environment, { key, segment: whole }, store);
    await fetchSegmentTables(environment, { key, segment: parts }, store);
    await fetchSegmentRest(environment, { key, segment: parts }, store);
    const texts = [1, whole, parts].map((one) =>
      readFileSync(join(environment.path, "text", `${one}`)),
    );
    expect(texts[0]!.length).toBeGreaterThan(2 ** 21);
    expect(texts.map((text) => text.equals(texts[0]!))).toEqual([true, true, true]);
    const isSymbols = (value: string) => /^0[9a]/.test(value); // symbols are separate objects
    const sent = valuesOf(environment, 1).filter((value) => !isSymbols(value));
    expect(valuesOf(environment, whole)).toEqual(sent);
    expect(valuesOf(environment, parts)).toEqual(sent);
    await deleteSegment(environment, whole);
    expect(readdirSync(join(environment.path, "text")).sort()).toEqual(["1", "3"]);
  });

  test.each(
    someOf<[what: string, hurt: (blocks: Value[]) => Value[]]>(
      [
        ["lacks its last block", (blocks) => blocks.slice(0, -1)],
        ["lacks all text", () => []],
        ["has two blocks in the wrong order", ([one, two, ...rest]) => [two!, one!, ...rest]],
        [
          "has a short block",
          ([one, ...rest]) => [{ ...one!, bytes: one!.bytes.subarray(1) }, ...rest],
        ],
        [
          "has one block too many",
          (blocks) => [...blocks, { ...blocks[0]!, number: blocks.length }],
        ],
      ],
      3,
    ),
  )("an object that %s is rejected", async (_, hurt) => {
    for (const count of [30, 300]) {
      const environment = await indexed(count); // 30: the text is in values; 300: in a file
      const store = directorySegments(temporaryFolder());
      const { key } = await sendSegment(environment, 1, store);
      const values: Value[] = [];
      for await (const value of decodeBundle(key, 1, await store.get(key)))
        values.push({ ...value, bytes: Uint8Array.from(value.bytes) });
      const text = values.filter(({ tag }) => tag === PART.TEXT);
      const others = values.filter(({ tag }) => tag !== PART.TEXT);
      const rest = [...others, ...hurt(text)];
      const hurtOne = await sendBundle(store, "seg", {
        kind: 1,
        tables: () => [],
        rest: () => rest,
      });
      const fetched = fetchSegment(environment, { key: hurtOne.key, segment: 7 }, store);
      await expect(fetched).rejects.toMatchObject({ code: "INDEX_CORRUPT" });
    }
  });

  test("large values are written in several parts", async () => {
    const environment = await indexed(30);
    const writes = vi.spyOn(environment, "write");
    const store = directorySegments(temporaryFolder());
    const rest = Array.from({ length: 12 }, (_, n) => valueOf(4 * 2 ** 20, n));
    const { key } = await sendBundle(store, "sym", { kind: 2, tables: () => [], rest: () => rest });
    await fetchSymbols(environment, { key, segment: 7, edition: 1 }, store);
    expect(writes.mock.calls.length).toBe(6 + 1); // writes of 8 MiB, and one of the rest
  });

  test("an intact object under the wrong key fails with INDEX_CORRUPT", async () => {
    const store = directorySegments(temporaryFolder());
    const [one, other] = [await indexed(30), await indexed(31)];
    const { key } = await sendSegment(one, 1, store);
    const wrong = await sendSegment(other, 1, store);
    const broken = { ...store, get: () => store.get(wrong.key) };
    const refused = fetchSegment(one, { key, segment: 7 }, broken);
    await expect(refused).rejects.toThrow(damaged(key).message);
  });
});

/** Returns the keys of a segment, without its number, and the values, those of text in a file included. */
function valuesOf(environment: Environment, segment: number): string[] {
  const snapshot = environment.snapshot();
  const stored = Array.from(snapshot.keys(segmentRange(segment)), (key) => Buffer.from(key));
  const keys = stored.filter((key) => !isTextKey(key) && partOfKey(key) !== PART.SEALS);
  for (let block = 0; ; block++) {
    const key = segmentKey(segment, PART.TEXT, block);
    if (!snapshot.getSealed(key)) break;
    keys.push(Buffer.from(key));
  }
  const values = keys.map(
    (key) => `${key.toString("hex", 5)} ${hash("sha256", snapshot.get(key, "a value")!)}`,
  );
  snapshot.close();
  return values;
}

const HEAD_BYTES = 83;

const flipped = (bytes: Buffer, at: number): Buffer => (
  bytes.writeUInt8(bytes[at]! ^ 1, at),
  bytes
);

/** Returns a value with this many bytes of text. */
const valueOf = (bytes: number, number = 0): Value => ({
  tag: PART.SYMBOLS,
  number,
  bytes: Buffer.alloc(bytes, "x"),
});

async function* oneByOne(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
}

const u32 = (number: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(number);
  return bytes;
};

/** Values as a section has them. */
const sectionOf = (values: readonly Value[]): Buffer =>
  Buffer.concat(
    values.flatMap(({ tag, number, bytes }) => [
      Buffer.of(tag),
      u32(number),
      u32(bytes.length),
      bytes,
    ]),
  );

interface Packing {
  readonly quality?: number;
  /** What the head says about the second section, if that is a lie. */
  readonly bytes?: number;
  readonly sum?: Buffer;
  /** Changes a packed block. */
  readonly spoil?: (block: Buffer) => Buffer;
}

/** Makes an object as the format says, all at once, with brotli as another machine may have it. */
function objectOf(
  kind: number,
  [tables, rest]: readonly [Buffer, Buffer],
  { quality = 5, bytes = rest.length, sum, spoil = (block) => block }: Packing = {},
) {
  const sumOf = (section: Buffer): Buffer => createHash("sha256").update(section).digest();
  const named = Buffer.concat([
    Buffer.from("quern\u0004"),
    Buffer.of(kind),
    u32(tables.length),
    sumOf(tables),
    u32(bytes),
    sum ?? sumOf(rest),
  ]);
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality };
  const packed = [tables, rest].map((section) => {
    const blocks: Buffer[] = [];
    for (let at = 0; at < section.length; at += 2 ** 20) {
      const block = spoil(brotliCompressSync(section.subarray(at, at + 2 ** 20), { params }));
      blocks.push(u32(block.length), block);
    }
    return Buffer.concat(blocks);
  });
  const key = `v1/x/00/${hash("sha256", named)}`;
  return { key, object: Buffer.concat([named, u32(packed[0]!.length), ...packed]) };
}

/** Makes an object as a machine does. */
async function sent(bundle: Bundle) {
  const pieces: Uint8Array[] = [];
  let promised = 0;
  const put = async (_: string, body: AsyncIterable<Uint8Array>, bytes: number): Promise<void> => {
    promised = bytes;
    for await (const piece of body) pieces.push(Uint8Array.from(piece));
  };
  const described = await sendBundle({ put }, "x", bundle);
  const object = Buffer.concat(pieces);
  expect(object.length).toBe(promised);
  return { ...described, object };
}

/** Decodes an object that arrives in pieces of some length. */
async function decoded(
  { key, object }: { readonly key: string; readonly object: Buffer },
  length = 1000,
  mostBytes?: number,
): Promise<Value[]> {
  const body = async function* () {
    for (let at = 0; at < object.length; at += length) yield object.subarray(at, at + length);
  };
  const values: Value[] = [];
  for await (const one of decodeBundle(key, 5, body(), mostBytes))
    values.push({ ...one, bytes: Uint8Array.from(one.bytes) });
  return values;
}

group("any values", () => {
  const value = fc.record({
    tag: fc.integer({ min: 0, max: 255 }),
    number: fc.integer({ min: 0, max: 0xffff_ffff }),
    bytes: fc.uint8Array({ maxLength: 50 }),
  });
  const bundles = fc.record({ tables: fc.array(value), rest: fc.array(value) });
  const bundleOf = ({ tables, rest }: { tables: Value[]; rest: Value[] }): Bundle => ({
    kind: 5,
    tables: () => tables,
    rest: () => rest,
  });

  test("are decoded in pieces of any length, even from another brotli, under the same key", async () => {
    const property = fc.asyncProperty(
      bundles,
      fc.integer({ min: 1, max: 70 }),
      fc.integer({ min: 0, max: 11 }),
      async (given, length, quality) => {
        const all = [...given.tables, ...given.rest];
        const { key, object, bytes } = await sent(bundleOf(given));
        expect(await decoded({ key, object }, length, bytes)).toEqual(all);
        const sections = [sectionOf(given.tables), sectionOf(given.rest)] as const;
        const other = objectOf(5, sections, { quality });
        expect(other.key.slice(-64)).toBe(key.slice(-64));
        expect(await decoded(other, length)).toEqual(all);
      },
    );
    await fc.assert(property);
  });

  test("with any byte changed, or truncated anywhere, are decoded unchanged or fail with INDEX_CORRUPT", async () => {
    const property = fc.asyncProperty(
      bundles,
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      fc.boolean(),
      async (given, place, xor, isCut) => {
        const { key, object } = await sent(bundleOf(given));
        const at = place % object.length;
        object[at]! ^= xor;
        const spoilt = { key, object: isCut ? object.subarray(0, at) : object };
        const got = await decoded(spoilt).catch(({ message }: Error) => message);
        // some bits in brotli have no meaning
        if (typeof got !== "string") expect(isCut).toBe(false);
        if (typeof got !== "string") expect(got).toEqual([...given.tables, ...given.rest]);
        else expect(got).toBe(damaged(key).message);
      },
    );
    await fc.assert(property, { numRuns: 300 * RUNS });
  });

  test("of the tables are fetched without any other byte, and a changed byte causes INDEX_CORRUPT", async () => {
    const property = fc.asyncProperty(
      bundles,
      fc.nat(),
      fc.integer({ min: 0, max: 255 }),
      async (given, place, xor) => {
        const { key, object } = await sent(bundleOf(given));
        const end = HEAD_BYTES + object.readUInt32LE(HEAD_BYTES - 4);
        object[place % end]! ^= xor;
        const ranges: unknown[] = [];
        const get: SegmentStore["get"] = async (_, range) => {
          ranges.push(range);
          return oneByOne(object.subarray(...range!));
        };
        const values: Value[] = [];
        const fetched = (async () => {
          for await (const one of fetchTables({ get }, key, 5))
            values.push({ ...one, bytes: Uint8Array.from(one.bytes) });
          return values;
        })();
        const got = await fetched.catch(({ message }: Error) => message);
        if (xor === 0) expect(typeof got).toBe("object");
        if (typeof got === "string") expect(got).toBe(damaged(key).message);
        else expect(got).toEqual(given.tables);
        if (xor === 0)
          expect(ranges).toEqual([
            [0, HEAD_BYTES],
            [HEAD_BYTES, end],
          ]);
      },
    );
    await fc.assert(property, { numRuns: 300 * RUNS });
  });

  test("of several long blocks are packed twice, with the same result", async () => {
    const noise = createCipheriv("aes-128-ctr", Buffer.alloc(16), Buffer.alloc(16));
    const rest = Array.from({ length: 17 }, (_, number): Value => ({
      tag: 1,
      number,
      bytes: noise.update(Buffer.alloc(2 ** 20)),
    }));
    const reads = vi.fn(() => rest);
    const made = await sent({ kind: 5, tables: () => [], rest: reads });
    expect(reads).toHaveBeenCalledTimes(2);
    const got = await decoded(made, 2 ** 16, made.bytes);
    expect(sectionOf(got).equals(sectionOf(rest))).toBe(true); // toEqual() would take seconds for this many bytes
  });
});

const NO_TABLES = Buffer.alloc(0);
const TEXT = sectionOf([valueOf(100_000)]);
const BOMB = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const HOSTILE: [what: string, rest: Buffer, packing?: Packing][] = [
  ["a bomb: a block with more than its section", TEXT, { bytes: 1000 }],
  [
    "a bomb: a block of 64 MiB",
    TEXT,
    { spoil: () => brotliCompressSync(Buffer.alloc(2 ** 26), BOMB) },
  ],
  ["a section shorter than its length", TEXT, { bytes: TEXT.length + 1 }],
  ["a checksum of other content", TEXT, { sum: Buffer.alloc(32) }],
  [
    "a byte after the content of a block",
    TEXT,
    { spoil: (block) => Buffer.concat([block, Buffer.of(0)]) },
  ],
  ["a value longer than its section", TEXT.subarray(0, -1)],
  ["half of a value's head", TEXT.subarray(0, 5)],
  ["a value of four GiB", Buffer.alloc(100, 255)],
];

test.each(HOSTILE)("a forged object fails with INDEX_CORRUPT: %s", async (_, rest, packing) => {
  const made = objectOf(5, [NO_TABLES, rest], packing);
  const before = process.memoryUsage().arrayBuffers;
  await expect(decoded(made)).rejects.toThrow(damaged(made.key).message);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 ** 24);
});

test("a value that continues in the other section fails with INDEX_CORRUPT", async () => {
  const made = objectOf(5, [TEXT.subarray(0, 50), TEXT.subarray(50)]);
  await expect(decoded(made)).rejects.toThrow(damaged(made.key).message);
});

test("more bytes than were published are rejected before the first value", async () => {
  const made = objectOf(5, [TEXT, TEXT]);
  expect(await decoded(made, 1000, 2 * TEXT.length)).toHaveLength(2);
  const values = decodeBundle(made.key, 5, oneByOne(made.object), 2 * TEXT.length - 1);
  await expect(values.next()).rejects.toThrow(damaged(made.key).message);
});

test("an object has the format of the documented example", async () => {
  const rest = () => [{ tag: 3, number: 2, bytes: Buffer.from("hi") }];
  const { key, object } = await sent({ kind: 1, tables: () => [], rest });
  const section = "03" + "02000000" + "02000000" + "6869";
  const sums = ["", section].map((hex) => hash("sha256", Buffer.from(hex, "hex")));
  const named = "717565726e0401" + "00000000" + sums[0]! + "0b000000" + sums[1]!;
  expect(object.toString("hex").startsWith(named + "00000000")).toBe(true);
  expect(key.slice(-64)).toBe(hash("sha256", Buffer.from(named, "hex")));
});
