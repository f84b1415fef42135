/**
 * Reads one segment. Its tables are read when it is opened, and stay in memory. They take about 50 bytes per file,
 * without the paths and hashes, which are read on first use. Search threads share these tables. Text and posting lists
 * are read through the snapshot that is passed to each call. A segment never changes, so a reader may be used with
 * later snapshots, unless the segment was deleted.
 */

import { copyBytes } from "../../base/copy-bytes.ts";
import { wordsOf } from "../../base/growable.ts";
import { wordsFor, type Bitset } from "../../base/bitset.ts";
import type { QuernError } from "../../base/errors.ts";
import type { Snapshot } from "../lmdb/environment.ts";
import {
  FIRST_MEMORY_SEGMENT,
  HASH_BYTES,
  NO_BLOB,
  PART,
  renumber,
  segmentKey,
} from "../format/format.ts";
import { readFiles, readPaths } from "./file-tables.ts";
import { listsOfText, PostingsReader } from "./postings.ts";
import { corrupt, isSealed, SEAL_BYTES, sealOf } from "../format/sealed.ts";
import {
  firstPagesOf,
  mustRead,
  readBlobs,
  readHeader,
  type FileTable,
  type PathTable,
  type SegmentHeader,
} from "./segment-tables.ts";
import { NOT_SHARED, ownBytes, TABLE, type Tables } from "./shared-tables.ts";

export interface SegmentReader {
  readonly segment: number;
  readonly header: SegmentHeader;
  readonly pageBytes: number;
  readonly blobStarts: Uint32Array;
  /** The first page of each blob, followed by the number of pages. */
  readonly firstPages: Uint32Array;
  readonly pageBlobs: Uint32Array;
  /** The pages for which folding changes a code point beyond ASCII, in the page or in the OVERLAP bytes after it. */
  readonly folds: Bitset;
  readonly files: FileTable;
  /** The files of blob b are blobFiles[blobFileStarts[b]] up to blobFiles[blobFileStarts[b + 1] - 1]. */
  readonly blobFileStarts: Uint32Array;
  readonly blobFiles: Uint32Array;
  readonly postings: PostingsReader;
  /** The number of bytes of memory that the tables take, without shared memory. */
  readonly bytes: number;
  paths(snapshot: Snapshot): PathTable;
  hashes(snapshot: Snapshot): Uint8Array;
  /** Copies the bytes [from, to) of the text to `target` at `at`. */
  copyText(snapshot: Snapshot, from: number, to: number, target: Uint8Array, at: number): void;
  /** Returns a copy of a blob's content. */
  blobText(snapshot: Snapshot, blob: number): Uint8Array;
}

export interface Opening {
  /** The header of the segment. By default, it is read. */
  readonly header?: SegmentHeader | undefined;
  /** The tables that threads share. By default, the reader has tables of its own. */
  readonly tables?: Tables | undefined;
}

/** Returns the language of a blob, which all of its files have. REQUIRES: some file of the segment has the blob. */
export function blobLanguage(
  { header, files, blobFileStarts, blobFiles }: SegmentReader,
  blob: number,
): string {
  return header.languages[files.languages[blobFiles[blobFileStarts[blob]!]!]!]!;
}

/** Opens a segment. Returns undefined if the snapshot does not contain it. */
export function openSegment(
  snapshot: Snapshot,
  segment: number,
  { header = readHeader(snapshot, segment), tables = NOT_SHARED }: Opening = {},
): SegmentReader | undefined {
  // a segment in memory is searched only a few times, so its tables are not shared
  const isShared = segment < FIRST_MEMORY_SEGMENT;
  return header && new Reader(snapshot, segment, header, isShared ? tables : NOT_SHARED);
}

function readTextTable(snapshot: Snapshot, segment: number, header: SegmentHeader) {
  const { content, pages } = header;
  const blobStarts = readBlobs(snapshot, header);
  const firstPages = firstPagesOf(blobStarts, header.pageBytes);
  if (firstPages.at(-1) !== pages) throw corrupt(`the pages of segment ${segment}`);
  const folds = wordsOf(mustRead(snapshot, content, PART.FOLDS, 4 * wordsFor(pages)));
  return { blobStarts, firstPages, pageBlobs: pageBlobsOf(firstPages), folds };
}

function readFilesTable(snapshot: Snapshot, segment: number, header: SegmentHeader) {
  const files = readFiles(snapshot, segment, header);
  if (!isWithin(files, header)) throw corrupt(`the files of segment ${segment}`);
  return { ...files, ...filesByBlob(files.blobs, header.blobs) };
}

class Reader implements SegmentReader {
  readonly segment: number;
  readonly header: SegmentHeader;
  readonly pageBytes: number;
  readonly blobStarts: Uint32Array;
  readonly firstPages: Uint32Array;
  readonly pageBlobs: Uint32Array;
  readonly folds: Bitset;
  readonly files: FileTable;
  readonly blobFileStarts: Uint32Array;
  readonly blobFiles: Uint32Array;
  readonly postings: PostingsReader;
  readonly #blockBytes: number;
  /** For each block, 1 if its seal was already checked. */
  readonly #verified: Uint8Array;
  readonly #tables: Tables;
  #paths: PathTable | undefined;
  #hashes: Uint8Array | undefined;
  readonly #textKey: Buffer;

  constructor(snapshot: Snapshot, segment: number, header: SegmentHeader, tables: Tables) {
    this.segment = segment;
    this.header = header;
    this.#tables = tables;
    const { content, pageBytes, blockBytes } = header;
    this.pageBytes = pageBytes;
    this.#blockBytes = blockBytes;
    this.#textKey = segmentKey(content, PART.TEXT);
    const text = tables.getOrMake(TABLE.TEXT, { segment: content }, () =>
      readTextTable(snapshot, segment, header),
    );
    const files = tables.getOrMake(TABLE.FILES, { segment }, () =>
      readFilesTable(snapshot, segment, header),
    );
    this.blobStarts = text.blobStarts;
    this.firstPages = text.firstPages;
    this.pageBlobs = text.pageBlobs;
    this.folds = text.folds;
    this.files = files;
    this.blobFileStarts = files.blobFileStarts;
    this.blobFiles = files.blobFiles;
    this.postings = new PostingsReader(
      snapshot,
      listsOfText(content),
      header.postingBlocks,
      tables,
    );
    this.#verified = new Uint8Array(Math.ceil(header.textBytes / blockBytes));
    if (content >= FIRST_MEMORY_SEGMENT) this.#verified.fill(1); // blocks of segments in memory have no seals
  }

  get bytes(): number {
    const { blobs, languages, flags } = this.files;
    return (
      ownBytes(this.blobStarts, this.firstPages, this.pageBlobs, this.folds) +
      ownBytes(blobs, languages, flags, this.blobFileStarts, this.blobFiles) +
      ownBytes(this.#paths?.starts, this.#paths?.bytes, this.#hashes, this.#verified) +
      this.postings.bytes
    );
  }

  paths(snapshot: Snapshot): PathTable {
    return (this.#paths ??= this.#tables.getOrMake(TABLE.PATHS, this, () =>
      readPaths(snapshot, this.segment, this.header),
    ));
  }

  hashes(snapshot: Snapshot): Uint8Array {
    const { content, blobs } = this.header;
    this.#hashes ??= this.#tables.getOrMake(TABLE.HASHES, { segment: content }, () => ({
      hashes: mustRead(snapshot, content, PART.HASHES, HASH_BYTES * blobs).slice(),
    })).hashes;
    return this.#hashes;
  }

  copyText(snapshot: Snapshot, from: number, to: number, target: Uint8Array, at: number): void {
    const { content } = this.header;
    if (this.#isVerified(from, to) && snapshot.copyText?.(content, from, to, target, at)) return;
    const blockBytes = this.#blockBytes;
    for (let next = from; next < to;) {
      const block = Math.floor(next / blockBytes);
      const start = block * blockBytes;
      if (next === start) {
        const end = this.#copyBlocks(snapshot, block, to, target, at + next - from);
        if (end > next) {
          next = end;
          continue;
        }
      }
      const end = Math.min(to, start + blockBytes);
      const sealed = this.#block(snapshot, block);
      if (sealed.length - SEAL_BYTES < end - start) throw this.#isBroken(block);
      copyBytes(sealed, next - start, target, at + next - from, end - next);
      next = end;
    }
  }

  /**
   * Copies the blocks from `first` on that end at or before `to`, and checks the seals of the copies. This halves the
   * time of the first search that reads all text, because the blocks are read together and copied once. Returns the end
   * of the copied text, or the start of block `first` if nothing was copied.
   */
  #copyBlocks(
    snapshot: Snapshot,
    first: number,
    to: number,
    target: Uint8Array,
    at: number,
  ): number {
    const { content, textBytes } = this.header;
    const blockBytes = this.#blockBytes;
    const from = first * blockBytes;
    const end = to === textBytes ? to : to - (to % blockBytes);
    if (end <= from || !snapshot.copyText?.(content, from, end, target, at)) return from;
    for (let block = first, start = from; start < end; block++, start += blockBytes) {
      if (this.#verified[block]) continue;
      const stop = Math.min(end, start + blockBytes);
      const text = target.subarray(at + start - from, at + stop - from);
      const seal = sealOf(renumber(this.#textKey, block), text);
      if (seal !== snapshot.textSeal!(content, block)) throw this.#isBroken(block);
      this.#verified[block] = 1;
    }
    return end;
  }

  blobText(snapshot: Snapshot, blob: number): Uint8Array {
    const [from, to] = [this.blobStarts[blob]!, this.blobStarts[blob + 1]!];
    const text = new Uint8Array(to - from);
    this.copyText(snapshot, from, to, text, 0);
    return text;
  }

  /** Returns true if the seals of all blocks with text in [from, to) were already checked. */
  #isVerified(from: number, to: number): boolean {
    const blockBytes = this.#blockBytes;
    for (let block = Math.floor(from / blockBytes); block * blockBytes < to; block++)
      if (!this.#verified[block]) return false;
    return true;
  }

  /** Returns a block of text followed by its seal. The result is valid until the next read. */
  #block(snapshot: Snapshot, block: number): Uint8Array {
    const key = renumber(this.#textKey, block);
    const value = snapshot.getSealed(key);
    if (!value || (!this.#verified[block] && !isSealed(key, value))) throw this.#isBroken(block);
    this.#verified[block] = 1;
    return value;
  }

  #isBroken(block: number): QuernError {
    return corrupt(`block ${block} of segment ${this.header.content}`);
  }
}

/** Returns true if the blob and the language of every file exist. */
function isWithin({ blobs, languages }: FileTable, header: SegmentHeader): boolean {
  const count = header.languages.length;
  for (let file = 0; file < blobs.length; file++) {
    const blob = blobs[file]!;
    if ((blob >= header.blobs && blob !== NO_BLOB) || languages[file]! >= count) return false;
  }
  return true;
}

function pageBlobsOf(firstPages: Uint32Array): Uint32Array {
  const blobs = new Uint32Array(firstPages.at(-1)!);
  for (let blob = 0; blob + 1 < firstPages.length; blob++)
    for (let page = firstPages[blob]!; page < firstPages[blob + 1]!; page++) blobs[page] = blob;
  return blobs;
}

/** Groups the files by blob, with a counting sort. */
function filesByBlob(
  blobs: Uint32Array,
  count: number,
): Pick<SegmentReader, "blobFileStarts" | "blobFiles"> {
  const starts = countFiles(blobs, count);
  const next = starts.slice();
  const files = new Uint32Array(starts[count]!);
  for (let file = 0; file < blobs.length; file++) {
    const blob = blobs[file]!;
    if (blob !== NO_BLOB) files[next[blob]!++] = file;
  }
  return { blobFileStarts: starts, blobFiles: files };
}

/** Returns the index at which the files of each blob begin, followed by the number of files with content. */
function countFiles(blobs: Uint32Array, count: number): Uint32Array {
  const starts = new Uint32Array(count + 1);
  for (let file = 0; file < blobs.length; file++) {
    const blob = blobs[file]!;
    if (blob !== NO_BLOB) starts[blob + 1]!++;
  }
  for (let blob = 0; blob < count; blob++) starts[blob + 1]! += starts[blob]!;
  return starts;
}
