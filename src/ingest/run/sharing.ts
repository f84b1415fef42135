/**
 * Looks up the content of a new repository, by hash, in the segments that are already stored. Files whose content is
 * found are written to segments that borrow this content. So a second work tree of an indexed repository takes about 8
 * bytes per file, in addition to its own changes.
 *
 * A segment costs each search a little, so content is borrowed only if it saves `leastBytes`. Opening the stored
 * content takes 3 ms for each segment of 256 MiB, and 120 bytes per blob while the run lasts.
 */

import { contentOf, readManifest } from "../../store/catalog/manifest.ts";
import { engineKey, HASH_BYTES } from "../../store/format/format.ts";
import { unlessCorrupt } from "../../store/format/sealed.ts";
import type { Snapshot } from "../../store/lmdb/environment.ts";
import { openSegment, type SegmentReader } from "../../store/segments/segment-reader.ts";
import type { NewFile } from "../../store/segments/segment-writer.ts";

/** The approximate memory of a borrowed file, in addition to its path. */
const FILE_BYTES = 160;
/**
 * The length of a key, which is the beginning of a hash. Two different blobs share a key with a probability of 2^-48.
 * So the text is compared, too.
 */
const KEY_BYTES = 6;

export interface SharedBlob {
  readonly lender: Lender;
  readonly blob: number;
}

/** A segment whose content is borrowed, with the files that may borrow it. */
export interface Lender {
  readonly reader: SegmentReader;
  readonly files: NewFile[];
  readonly blobs: Set<number>;
  /** The total length of the borrowed blobs, in bytes. */
  bytes: number;
}

export class Sharing {
  readonly #lenders: Lender[] = [];
  /** The keys are 2^32 times the index of the lender, plus the number of the blob. */
  readonly #byKey = new Map<number, number>();
  #memory = 0;
  #undecidedBytes = 0;
  readonly #leastBytes: number;

  /**
   * Opens the stored content, the largest segments first, as much as fits into about `memoryBytes` of memory.
   * Damaged segments are left out. In a directory of a cluster nothing is shared, because its segments go to other
   * machines one by one.
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
      if (!this.#byKey.has(key)) this.#byKey.set(key, place * 2 ** 32 + blob);
    }
    this.#memory += reader.bytes + 50 * reader.header.blobs;
  }

  /**
   * Returns the stored blob that has this text, or `undefined`. All stored files of that blob must have the language
   * `language`, because a blob's symbols are stored once and depend on the language. The stored text is compared with
   * `text`, so that damaged text is not used again.
   */
  find(
    snapshot: Snapshot,
    { hash, text, language }: { hash: Buffer; text: Uint8Array; language: string },
  ): SharedBlob | undefined {
    const at = this.#byKey.get(hash.readUIntBE(0, KEY_BYTES));
    if (at === undefined) return undefined;
    const lender = this.#lenders[Math.floor(at / 2 ** 32)]!;
    const blob = at % 2 ** 32;
    const { reader } = lender;
    if (!languagesOf(reader, blob).every((one) => one === language)) return undefined;
    const stored = unlessCorrupt(() => reader.blobText(snapshot, blob));
    return stored && Buffer.compare(stored, text) === 0 ? { lender, blob } : undefined;
  }

  /** Adds a file with a blob that was found. */
  add({ lender, blob }: SharedBlob, file: Omit<NewFile, "blob">): void {
    lender.files.push({ ...file, blob });
    this.#memory += FILE_BYTES + file.path.length;
    if (lender.blobs.has(blob)) return;
    lender.blobs.add(blob);
    if (!this.isWorthIt(lender)) this.#undecidedBytes -= lender.bytes;
    lender.bytes += lengthOf(lender.reader, blob);
    if (!this.isWorthIt(lender)) this.#undecidedBytes += lender.bytes;
  }

  /** Whether the files of a lender get a segment of their own. */
  isWorthIt({ bytes }: Lender): boolean {
    return bytes >= this.#leastBytes;
  }

  get lenders(): readonly Lender[] {
    return this.#lenders.filter(({ files }) => files.length > 0);
  }

  /**
   * The bytes of text found in lenders that are not yet worth borrowing from. If no more text is found there, it is
   * copied.
   */
  get undecidedBytes(): number {
    return this.#undecidedBytes;
  }

  /** The approximate memory in bytes. */
  get memory(): number {
    return this.#memory;
  }
}

const lengthOf = ({ blobStarts }: SegmentReader, blob: number): number =>
  blobStarts[blob + 1]! - blobStarts[blob]!;

function languagesOf(
  { header, files, blobFileStarts, blobFiles }: SegmentReader,
  blob: number,
): string[] {
  const own = blobFiles.subarray(blobFileStarts[blob], blobFileStarts[blob + 1]);
  return Array.from(own, (file) => header.languages[files.languages[file]!]!);
}
