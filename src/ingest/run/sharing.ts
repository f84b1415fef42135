/**
 * Lets the files of a new repository share the content of stored segments. The content of each file is looked up by
 * its hash. If the content is found, the file is written to a segment that borrows it. So a second work tree of an
 * indexed repository takes about 8 bytes per unchanged file.
 *
 * Each additional segment costs every search a little time, so content is borrowed only if this saves at least
 * `leastBytes`. Opening a stored segment of 256 MiB takes 3 ms, and 120 bytes of memory per blob until the run ends.
 */

import { contentOf, readManifest } from "../../store/catalog/manifest.ts";
import { engineKey, HASH_BYTES } from "../../store/format/format.ts";
import { unlessCorrupt } from "../../store/format/sealed.ts";
import type { Snapshot } from "../../store/lmdb/environment.ts";
import {
  blobLanguage,
  openSegment,
  type SegmentReader,
} from "../../store/segments/segment-reader.ts";
import type { NewFile } from "../../store/segments/segment-writer.ts";

/** The approximate memory of a file that borrows its content, in bytes, without its path. */
const FILE_BYTES = 160;
/**
 * The length of a key, in bytes. A key is the beginning of a blob's hash. Two different blobs have the same key with
 * a probability of 2^-48, so their texts are compared, too.
 */
const KEY_BYTES = 6;

export interface SharedBlob {
  readonly lender: Lender;
  readonly blob: number;
}

/**
 * A stored segment that new files may borrow from. `files` are the new files whose content is a blob of this segment.
 * `blobs` are the numbers of these blobs.
 */
export interface Lender {
  readonly reader: SegmentReader;
  readonly files: NewFile[];
  readonly blobs: Set<number>;
  /** The total length of the blobs in `blobs`, in bytes. */
  bytes: number;
}

export class Sharing {
  readonly #lenders: Lender[] = [];
  /**
   * For each language and key, the blob that has both, as a number: 2^32 times the index of the lender, plus the number
   * of the blob.
   */
  readonly #byKey = new Map<string, Map<number, number>>();
  #memory = 0;
  #undecidedBytes = 0;
  readonly #leastBytes: number;

  /**
   * Opens the stored segments, the largest first, until they take about `memoryBytes` of memory. Damaged segments are
   * left out. In a directory of a cluster nothing is shared, because each segment may be sent to another machine
   * without the others.
   */
  constructor(
    snapshot: Snapshot,
    { memoryBytes, leastBytes }: { readonly memoryBytes: number; readonly leastBytes: number },
  ) {
    this.#leastBytes = leastBytes;
    if (snapshot.get(engineKey("cluster"), "what the cluster has stored here")) return;
    const { segments } = readManifest(snapshot);
    const contents = new Map(segments.map((one) => [contentOf(one), one.textBytes]));
    const large = [...contents].filter(([, bytes]) => bytes >= leastBytes);
    for (const [segment] of large.sort((a, b) => b[1] - a[1])) {
      if (this.#memory >= memoryBytes) break;
      unlessCorrupt(() => this.#open(snapshot, segment));
    }
  }

  #open(snapshot: Snapshot, segment: number): void {
    const reader = openSegment(snapshot, segment);
    if (!reader) return;
    const hashes = Buffer.from(reader.hashes(snapshot));
    const place = this.#lenders.push({ reader, files: [], blobs: new Set(), bytes: 0 }) - 1;
    for (let blob = 0; blob < reader.header.blobs; blob++) {
      const key = hashes.readUIntBE(HASH_BYTES * blob, KEY_BYTES);
      const language = blobLanguage(reader, blob);
      const byKey = this.#byKey.get(language) ?? new Map<number, number>();
      if (!byKey.has(key)) byKey.set(key, place * 2 ** 32 + blob);
      this.#byKey.set(language, byKey);
    }
    this.#memory += reader.bytes + 50 * reader.header.blobs;
  }

  /**
   * Returns the stored blob that has this text and language, or undefined. The stored text is compared with `text`, so
   * damaged text is never borrowed.
   */
  find(
    snapshot: Snapshot,
    { hash, text, language }: { hash: Buffer; text: Uint8Array; language: string },
  ): SharedBlob | undefined {
    const at = this.#byKey.get(language)?.get(hash.readUIntBE(0, KEY_BYTES));
    if (at === undefined) return undefined;
    const lender = this.#lenders[Math.floor(at / 2 ** 32)]!;
    const blob = at % 2 ** 32;
    const { reader } = lender;
    const stored = unlessCorrupt(() => reader.blobText(snapshot, blob));
    return stored && Buffer.compare(stored, text) === 0 ? { lender, blob } : undefined;
  }

  /** Adds a file. REQUIRES: find() has found the file's content. */
  add({ lender, blob }: SharedBlob, file: Omit<NewFile, "blob">): void {
    lender.files.push({ ...file, blob });
    this.#memory += FILE_BYTES + file.path.length;
    if (lender.blobs.has(blob)) return;
    lender.blobs.add(blob);
    if (!this.isWorthIt(lender)) this.#undecidedBytes -= lender.bytes;
    lender.bytes += lengthOf(lender.reader, blob);
    if (!this.isWorthIt(lender)) this.#undecidedBytes += lender.bytes;
  }

  /**
   * Returns whether enough text would be borrowed from a lender. If so, the files get a segment that borrows from it.
   */
  isWorthIt({ bytes }: Lender): boolean {
    return bytes >= this.#leastBytes;
  }

  get lenders(): readonly Lender[] {
    return this.#lenders.filter(({ files }) => files.length > 0);
  }

  /**
   * The number of bytes of text that was found in lenders that are not yet worth borrowing from. If too little text is
   * found in such a lender until the segment is finished, its text is copied instead of borrowed.
   */
  get undecidedBytes(): number {
    return this.#undecidedBytes;
  }

  /** The approximate memory that this object takes, in bytes. */
  get memory(): number {
    return this.#memory;
  }
}

const lengthOf = ({ blobStarts }: SegmentReader, blob: number): number =>
  blobStarts[blob + 1]! - blobStarts[blob]!;
