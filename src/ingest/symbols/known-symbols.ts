/**
 * Finds blobs whose symbols can be copied from another segment, so that the blobs need not be parsed. Another segment
 * may store the same content for another repository. So the hash and the language of each blob are looked up in all other
 * segments that have symbols.
 *
 * From each of these segments, 20 bytes per blob are read once. Only the hashes of one such segment at a time are in
 * memory, and a map with an entry for each blob that is looked up.
 */

import { isCorrupt } from "../../store/format/sealed.ts";
import type { Snapshot } from "../../store/lmdb/environment.ts";
import { HASH_BYTES, PART } from "../../store/format/format.ts";
import { blobLanguage, openSegment } from "../../store/segments/segment-reader.ts";
import { mustRead } from "../../store/segments/segment-tables.ts";
import { openSymbols, type SymbolsReader } from "../../store/symbols/symbols.ts";
import { threadEnvironment } from "../../store/lmdb/thread-environment.ts";
import type { Task } from "../../threads/task.ts";
import { isCurrent, isOutdated, NOWHERE, versionOf, type Edition } from "./symbol-task.ts";

export interface KnownInput extends Edition {
  readonly others: readonly Edition[];
}

/**
 * Two numbers for each blob of the segment. The first number is the index in `others` of a segment that has the
 * blob's symbols, or NOWHERE. The second number is the blob's number in that segment.
 */
export type KnownOutput = Int32Array;

/**
 * The length of a key, in bytes. A key is the beginning of a blob's hash. Two different blobs have the same key with
 * a probability of 2^-48, so their whole hashes are compared, too.
 */
const KEY_BYTES = 6;

export const knownTask: Task<KnownInput, KnownOutput> = async (input, context) => {
  const snapshot = threadEnvironment(context).snapshot();
  try {
    const sought = soughtBlobs(snapshot, input);
    for (const [position, other] of input.others.entries()) {
      if (sought.byLanguage.size === 0) break;
      lookUp(snapshot, other, { ...sought, position });
      await context.pause();
    }
    return sought.places;
  } finally {
    snapshot.close();
  }
};

interface Sought {
  /** For each language and key, the number of a blob that has not been found yet. */
  readonly byLanguage: Map<string, Map<number, number>>;
  readonly hashes: Buffer;
  readonly places: KnownOutput;
}

function soughtBlobs(snapshot: Snapshot, { segment, edition }: Edition): Sought {
  const reader = openSegment(snapshot, segment)!;
  const before = edition > 0 ? openSymbols(snapshot, segment, edition) : undefined;
  const hashes = bufferOf(reader.hashes(snapshot));
  const byLanguage = new Map<string, Map<number, number>>();
  for (let blob = 0; blob < reader.header.blobs; blob++) {
    const language = blobLanguage(reader, blob);
    if (versionOf(language) === "" || isCurrent(before?.origin(blob))) continue;
    const byKey = byLanguage.get(language) ?? new Map<number, number>();
    byLanguage.set(language, byKey.set(keyOf(hashes, blob), blob));
  }
  const places = new Int32Array(2 * reader.header.blobs).fill(NOWHERE);
  return { byLanguage, hashes, places };
}

/** Looks up the blobs in one other segment. If that segment is damaged, no blob is found there. */
function lookUp(
  snapshot: Snapshot,
  { segment, edition }: Edition,
  sought: Sought & { readonly position: number },
): void {
  try {
    const symbols = openSymbols(snapshot, segment, edition);
    if (!symbols) return;
    const bytes = HASH_BYTES * symbols.header.blobs;
    // the hashes are in LMDB's memory and valid only until the next read, so all are compared before anything else is
    // read
    compareAll(bufferOf(mustRead(snapshot, segment, PART.HASHES, bytes)), symbols, sought);
  } catch (error) {
    if (!isCorrupt(error)) throw error;
  }
}

function compareAll(
  hashes: Buffer,
  symbols: SymbolsReader,
  sought: Sought & { readonly position: number },
): void {
  const { byLanguage, places, position } = sought;
  for (let there = 0; there < symbols.header.blobs; there++) {
    const origin = symbols.origin(there);
    if (origin?.outcome !== "symbols" || isOutdated(origin)) continue;
    const byKey = byLanguage.get(origin.language);
    const key = keyOf(hashes, there);
    const blob = byKey?.get(key);
    if (!byKey || blob === undefined) continue;
    const [from, to] = [there * HASH_BYTES, (there + 1) * HASH_BYTES];
    const own = blob * HASH_BYTES;
    if (hashes.compare(sought.hashes, own, own + HASH_BYTES, from, to) !== 0) continue;
    places.set([position, there], 2 * blob);
    byKey.delete(key);
    if (byKey.size === 0) byLanguage.delete(origin.language);
  }
}

const keyOf = (hashes: Buffer, blob: number): number =>
  hashes.readUIntLE(blob * HASH_BYTES, KEY_BYTES);

const bufferOf = ({ buffer, byteOffset, length }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, length);
