/** Finds stored keys and files of text that nothing needs. */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { unpack } from "msgpackr";
import type { Environment, Snapshot } from "../../src/store/lmdb/environment.ts";
import { PART, repositoryKey, segmentKey, segmentOfKey } from "../../src/store/format/format.ts";
import { readManifest } from "../../src/store/catalog/manifest.ts";
import type { RepositoryRecord } from "../../src/store/format/records.ts";

/** Returns the keys, as numbers, and the files that neither the manifest nor a repository's record requires. */
export function unaccounted(environment: Environment): string[] {
  const snapshot = environment.snapshot();
  try {
    const wanted = wantedKeys(snapshot);
    const keys = [...snapshot.keys([Buffer.from([0]), Buffer.from([255])])];
    const texts = join(environment.path, "text");
    const files = existsSync(texts) ? readdirSync(texts) : [];
    return [
      ...keys
        .filter((key) => !wanted(Buffer.from(key)))
        .map((key) => Buffer.from(key).toString("hex")),
      ...files.filter((name) => !wanted(segmentKey(Number(name), PART.TEXT))),
    ];
  } finally {
    snapshot.close();
  }
}

/** Returns the bytes of all keys and values. */
export function storedBytes(environment: Environment): number {
  const snapshot = environment.snapshot();
  try {
    let bytes = 0;
    const keys = snapshot.keys([Buffer.from([0]), Buffer.from([255])]);
    for (const key of Array.from(keys, (one) => Buffer.from(one)))
      bytes += key.length + snapshot.getSealed(key)!.length;
    return bytes;
  } finally {
    snapshot.close();
  }
}

function wantedKeys(snapshot: Snapshot): (key: Buffer) => boolean {
  const manifest = readManifest(snapshot);
  const segments = new Set(
    [...manifest.segments, ...manifest.retired].map(({ segment }) => segment),
  );
  const records = new Map(
    Array.from(manifest.repositories, ([id]) => [
      id,
      unpack(snapshot.get(repositoryKey(id), "record")!) as RepositoryRecord,
    ]),
  );
  return (key) => {
    const table = key[0];
    if (table === 0) return true;
    if (table === 5) return segments.has(segmentOfKey(key));
    const record = records.get(key.readUInt32BE(1));
    if (table === 1 || table === 2 || !record) return record !== undefined;
    // versions are kept as long as their segment
    if (table === 4) return segments.has(key.readUInt32BE(5));
    return (
      record.segments.includes(key.readUInt32BE(5)) &&
      record.revisions.some(({ number }) => number === key.readUInt16BE(9))
    );
  };
}
