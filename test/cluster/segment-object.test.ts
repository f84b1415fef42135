/**
 * Segments as objects: equal content has one key, a segment that was read back answers as before, and damage is
 * refused.
 */

import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe as group, expect, onTestFinished, test, vi } from "vitest";
import {
  damaged,
  decodeBundle,
  describe,
  encodeBundle,
  type Value,
} from "../../src/cluster/objects/bundle.ts";
import { directorySegments } from "../../src/cluster/objects/directory-segments.ts";
import {
  deleteSegment,
  deleteSymbols,
  fetchSegment,
  fetchSymbols,
  sendSegment,
  sendSymbols,
} from "../../src/cluster/objects/segment-object.ts";
import type { SegmentStore } from "../../src/cluster/objects/segment-store.ts";
import { documents, open, type Engine } from "../../src/index.ts";
import { openStore } from "../../src/store/catalog/open.ts";
import {
  readManifest,
  type Manifest,
  type ManifestSegment,
} from "../../src/store/catalog/manifest.ts";
import { engineKey, HASH_BYTES, SEGMENTS_RANGE } from "../../src/store/format/format.ts";
import { openSegment } from "../../src/store/segments/segment-reader.ts";
import { encodeHeader } from "../../src/store/segments/segment-tables.ts";
import type { Environment } from "../../src/store/lmdb/environment.ts";
import { bringTo, difference, moveViewer } from "../engine/corpus-engine.ts";
import { openEngine, RUNS, temporaryFolder } from "../engine/opened.ts";
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
  const values = [...snapshot.keys([Buffer.of(1), end]), engineKey("manifest")];
  const read = values.map((key) => ({
    key: Buffer.from(key),
    value: Buffer.from(snapshot.get(key, "a value")!),
  }));
  snapshot.close();
  await to.write((writer) => {
    for (const { key, value } of read) writer.put(key, value);
  });
}

/** Copies all segments by way of a store of objects. */
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

test("a copy by way of objects answers what brute force answers", async () => {
  const engine = await openEngine({ contexts, workers: 0 });
  const property = fc.asyncProperty(searchStates(8), async ({ corpus, asked }) => {
    const there = await bringTo(engine, corpus); // without symbols: random texts may define what no oracle knows
    const copy = await copyOf(engine);
    expect(await copy.check()).toMatchObject({ ok: true });
    for (const one of asked) {
      const moved = { ...one, options: moveViewer(one.options, corpus, there) };
      expect(await difference(copy, there, moved)).toBeUndefined();
    }
    await copy.close();
  });
  await fc.assert(property, { numRuns: 5 * RUNS });
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
  await engine.index(source("shop", count));
  await engine.close();
  return storeAt(path);
}

async function* oneByOneOf<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values;
}

const bytesOf = async (store: SegmentStore, key: string): Promise<Buffer> => {
  const pieces: Uint8Array[] = [];
  for await (const piece of await store.get(key)) pieces.push(piece);
  return Buffer.concat(pieces);
};

group("one segment", () => {
  test("equal content has one key on two machines, under any number", async () => {
    const [one, other] = [await indexed(), await indexed()];
    const store = directorySegments(temporaryFolder());
    const [{ segment, symbols: edition }] = manifestOf(one).segments as [Manifest["segments"][0]];
    const { key, bytes } = await sendSegment(one, segment, store);
    expect(await sendSegment(other, segment, store)).toEqual({ key, bytes });
    expect((await bytesOf(store, key)).length).toBe(bytes);
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
    const environment = await indexed(3000);
    const store = directorySegments(temporaryFolder());
    const { key } = await sendSegment(environment, 1, store);
    const tags: number[] = [];
    for await (const { tag } of decodeBundle(key, 1, await store.get(key)))
      if (tags.at(-1) !== tag) tags.push(tag);
    expect(tags).toEqual([0, 2, 3, 4, 7, 8, 5, 6, 1]);
  });

  test("what is deleted leaves nothing, and nothing else", async () => {
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

  test("content that is borrowed is sent along, and never borrowed from this machine", async () => {
    const path = temporaryFolder();
    const engine = await open(path, { workers: 0 });
    for (const name of ["shop", "shop-work-tree"]) await engine.index(source(name, 300));
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
    const broken = { ...store, get: async () => encodeBundle(1, oneByOneOf(values)) };
    await expect(fetchSegment(to, { key, segment: 9 }, broken)).rejects.toMatchObject({
      code: "INDEX_CORRUPT",
    });
  });

  const DAMAGES: readonly (readonly [string, (bytes: Buffer) => Buffer])[] = [
    [
      "a byte of its text",
      (bytes) => (bytes.writeUInt8(bytes[bytes.length - 9]! ^ 1, bytes.length - 9), bytes),
    ],
    ["its first byte", (bytes) => (bytes.writeUInt8(0, 0), bytes)],
    ["its kind", (bytes) => (bytes.writeUInt8(2, 6), bytes)],
    ["a tag", (bytes) => (bytes.writeUInt8(200, 7), bytes)],
    ["a length", (bytes) => (bytes.writeUInt32LE(0xffff_ffff, 12), bytes)],
    ["its end", (bytes) => bytes.subarray(0, -1)],
    ["its half", (bytes) => bytes.subarray(0, bytes.length >> 1)],
    ["all of it", () => Buffer.alloc(0)],
    ["more at its end", (bytes) => Buffer.concat([bytes, Buffer.of(255)])],
  ];

  test.each(DAMAGES)("damage is INDEX_CORRUPT: %s", async (_, damage) => {
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

  test("an object that never ends is INDEX_CORRUPT once it is longer than what was published", async () => {
    const environment = await indexed(30);
    const store = directorySegments(temporaryFolder());
    const { key, bytes } = await sendSegment(environment, 1, store);
    let sent = 0;
    const body = async function* () {
      yield* oneByOne(Buffer.concat([await bytesOf(store, key)]).subarray(0, -1));
      for (const block = textOf(100_000); sent < 10_000_000; sent += block.length) yield block;
    };
    const broken = { ...store, get: async () => body() };
    const refused = fetchSegment(environment, { key, segment: 7, bytes }, broken);
    await expect(refused).rejects.toMatchObject({ code: "INDEX_CORRUPT" });
    expect(sent).toBeLessThan(400_000);
  });

  test("large values are not held together", async () => {
    const environment = await indexed(30);
    const writes = vi.spyOn(environment, "write");
    const store = directorySegments(temporaryFolder());
    const body = async function* () {
      yield Buffer.from("quern\u0001\u0001");
      for (let sent = 0; sent < 12; sent++) yield textOf(4 * 2 ** 20);
      yield Buffer.of(255);
    };
    const hurt = { ...store, get: async () => body() };
    const key = `v1/seg/00/${"0".repeat(64)}`;
    const refused = fetchSegment(environment, { key, segment: 7 }, hurt);
    await expect(refused).rejects.toMatchObject({ code: "INDEX_CORRUPT" });
    expect(writes.mock.calls.length).toBe(6); // of 8 MiB
  });

  test("another sound object than the one that was asked for is INDEX_CORRUPT", async () => {
    const store = directorySegments(temporaryFolder());
    const [one, other] = [await indexed(30), await indexed(31)];
    const { key } = await sendSegment(one, 1, store);
    const wrong = await sendSegment(other, 1, store);
    const broken = { ...store, get: () => store.get(wrong.key) };
    const refused = fetchSegment(one, { key, segment: 7 }, broken);
    await expect(refused).rejects.toThrow(damaged(key).message);
  });
});

/** Returns a value of this many bytes, in the form that an object has. */
function textOf(bytes: number): Buffer {
  const value = Buffer.alloc(9 + bytes, "x");
  value[0] = 1; // text
  value.writeUInt32LE(0, 1);
  value.writeUInt32LE(bytes, 5);
  return value;
}

async function* oneByOne(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
}

test("a bundle of any values comes back, in pieces of any length", async () => {
  const value = fc.record({
    tag: fc.integer({ min: 0, max: 254 }),
    number: fc.integer({ min: 0, max: 0xffff_ffff }),
    bytes: fc.uint8Array({ maxLength: 50 }),
  });
  const property = fc.asyncProperty(
    fc.array(value),
    fc.integer({ min: 1, max: 70 }),
    async (values, length) => {
      const { key } = await describe("x", encodeBundle(5, values));
      const pieces: Uint8Array[] = [];
      for await (const piece of encodeBundle(5, values))
        for (let at = 0; at < piece.length; at += length)
          pieces.push(piece.subarray(at, at + length));
      const got: Value[] = [];
      const body = (async function* () {
        yield* pieces;
      })();
      for await (const one of decodeBundle(key, 5, body))
        got.push({ ...one, bytes: Uint8Array.from(one.bytes) });
      expect(got).toEqual(values);
    },
  );
  await fc.assert(property);
});

test("the example of the format", async () => {
  const pieces: Uint8Array[] = [];
  for await (const piece of encodeBundle(1, [{ tag: 3, number: 2, bytes: Buffer.from("hi") }]))
    pieces.push(piece);
  expect(Buffer.concat(pieces).toString("hex")).toBe(
    "717565726e0101" + "03" + "02000000" + "02000000" + "6869" + "ff",
  );
});
