/**
 * Fuzzes the segment reader with changed values. An input is the position of a value (2 bytes), a byte that is odd if
 * the changed value gets a valid seal, and the new value. Without a valid seal, every read must be right or
 * INDEX_CORRUPT. No damage creates a valid seal. But with one, a read must still end with an answer or INDEX_CORRUPT.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { QuernError } from "../src/base/errors.ts";
import { open } from "../src/opened-engine.ts";
import { documents } from "../src/ingest/sources/documents.ts";
import { Arena } from "../src/kernel/arena.ts";
import { createKernel } from "../src/kernel/kernel.ts";
import { openEnvironment, type Snapshot } from "../src/store/lmdb/environment.ts";
import { SEGMENTS_RANGE } from "../src/store/format/format.ts";
import { readManifest, type ManifestSegment } from "../src/store/catalog/manifest.ts";
import { pagesOfList } from "../src/store/segments/posting-bits.ts";
import { isSealed, seal, SEAL_BYTES, unseal } from "../src/store/format/sealed.ts";
import { openSegment, type SegmentReader } from "../src/store/segments/segment-reader.ts";
import { openSymbols } from "../src/store/symbols/symbols.ts";
import type { Random } from "../test/regex/random.ts";
import { mutate } from "./mutate.ts";
import { holds, type Target } from "./target.ts";

type Values = ReadonlyMap<string, Buffer>;

const kernel = createKernel();
const arena = new Arena(kernel);

export async function openSegmentTarget(): Promise<Target> {
  const { values, segment } = await storedValues();
  const keys = [...values.keys()];
  const right = readAll(snapshotOf(values), segment);
  return {
    make: (random) => recipe(random, keys, values),
    check(input) {
      if (input.length < 3) return;
      const name = keys[input.readUInt16LE(0) % keys.length]!;
      const key = Buffer.from(name, "latin1");
      const isResealed = input[2]! % 2 === 1;
      const given = input.subarray(3);
      const changed = new Map(values).set(name, isResealed ? seal(key, given) : Buffer.from(given));
      const got = readOrRefuse(snapshotOf(changed), segment);
      const hasSeal = isResealed || isSealed(key, given); // one in 2^32 other values has a valid seal
      if (!hasSeal && got !== undefined) holds(got === right, `a wrong read: ${got}`);
    },
  };
}

function recipe(random: Random, keys: readonly string[], values: Values): Buffer {
  const place = random(keys.length);
  const isResealed = random(2);
  // sometimes uses the whole value of another key
  const isAnothers = random(8) === 0;
  const value = values.get(keys[isAnothers ? random(keys.length) : place]!)!;
  const bytes = isResealed ? value.subarray(0, value.length - SEAL_BYTES) : value;
  const changed = isAnothers ? bytes : mutate(random, bytes, []);
  return Buffer.concat([Uint8Array.of(place & 255, place >> 8, isResealed), changed]);
}

/** Returns the stored values of a small segment with symbols, a skipped file and several blobs. */
async function storedValues(): Promise<{ values: Values; segment: ManifestSegment }> {
  const path = mkdtempSync(join(tmpdir(), "quern-fuzz-"));
  try {
    const engine = await open(path, { workers: 0 });
    await engine.index(documents({ name: "fuzzed", files: FILES }));
    await engine.close();
    const environment = openEnvironment(path, { readOnly: true });
    const snapshot = environment.snapshot();
    const [segment] = readManifest(snapshot).segments;
    const values = new Map<string, Buffer>();
    for (const key of [...snapshot.keys(SEGMENTS_RANGE)].map((one) => Buffer.from(one)))
      values.set(key.toString("latin1"), Buffer.from(snapshot.getSealed(key)!));
    snapshot.close();
    await environment.close();
    return { values, segment: segment! };
  } finally {
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  }
}

const FILES = [
  { path: "a.ts", content: "export function needle(): number {\n  return 1;\n}\n" },
  { path: "b/a.ts", content: "export class Haystack {\n  needles() {}\n}\n" },
  { path: "b/copy.ts", content: "export class Haystack {\n  needles() {}\n}\n" },
  { path: "long.txt", content: "a line of words, folded: ſtraße\n".repeat(1500) },
  { path: "binary", content: Uint8Array.of(0, 1, 2) },
  { path: "empty", content: "" },
];

function snapshotOf(values: Values): Snapshot {
  const getSealed = (key: Buffer) => values.get(key.toString("latin1"));
  return {
    getSealed,
    get(key, what) {
      const value = getSealed(key);
      return value && unseal(key, value, what);
    },
    *keys() {},
    close() {},
  };
}

function readOrRefuse(snapshot: Snapshot, segment: ManifestSegment): string | undefined {
  try {
    return readAll(snapshot, segment);
  } catch (error) {
    if (error instanceof QuernError && error.code === "INDEX_CORRUPT") return undefined;
    throw error;
  }
}

/** Returns everything that can be read from a segment, as one line. */
function readAll(snapshot: Snapshot, { segment, symbols: edition }: ManifestSegment): string {
  const reader = openSegment(snapshot, segment);
  if (!reader) return "no segment";
  const { header, files, folds } = reader;
  const { starts, bytes } = reader.paths(snapshot);
  const paths = Array.from({ length: header.files }, (_, file) =>
    Buffer.from(bytes.subarray(starts[file], starts[file + 1])).toString(),
  );
  const texts = Array.from({ length: header.blobs }, (_, blob) =>
    Buffer.from(reader.blobText(snapshot, blob)).toString(),
  );
  const hashes = Buffer.from(reader.hashes(snapshot)).toString("hex");
  const tables = [header, [...files.blobs], [...files.flags], [...files.languages], [...folds]];
  const parts = [tables, paths, texts, hashes, lists(reader, snapshot)];
  return JSON.stringify([...parts, symbolRows(reader, snapshot, edition)]);
}

function lists(reader: SegmentReader, snapshot: Snapshot): string[] {
  const out: string[] = [];
  for (const { gram, list } of reader.postings.all(snapshot)) {
    const pages = pagesOfList(list, Math.min(reader.header.pages, 1 << 20), { kernel, arena });
    out.push(`${gram}: ${pages?.join() ?? "refused"}`);
  }
  return out;
}

function symbolRows(reader: SegmentReader, snapshot: Snapshot, edition: number): unknown[] {
  const symbols = openSymbols(snapshot, reader.segment, edition);
  if (!symbols) return [];
  return Array.from({ length: reader.header.blobs }, (_, blob) => {
    const bytes = reader.blobStarts[blob + 1]! - reader.blobStarts[blob]!;
    const list = symbols.definitions(snapshot, blob, bytes);
    return [list.count, ...list.rows.subarray(0, 4 * list.count)];
  });
}
