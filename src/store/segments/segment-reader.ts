/**
 * Reads one segment. Its tables are read when it is opened, and stay in memory. They take about 20 bytes per file,
 * without the paths, which are read on first use. Text and posting lists are read through the snapshot that is passed
 * to each call. A segment never changes, so a reader may be used with later snapshots, unless the segment was deleted.
 */

import { copyBytes } from "../../base/copy-bytes.ts";
import { wordsOf } from "../../base/growable.ts";
import { wordsFor, type Bitset } from "../../base/bitset.ts";
import type { QuernError } from "../../base/errors.ts";
import { takeAll, takeInSlices, type Steps } from "../../base/steps.ts";
import type { Pause } from "../../base/yield.ts";
import { LastRead, type Snapshot } from "../lmdb/environment.ts";
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
import { corrupt, isSealed, SEAL_BYTES } from "../format/sealed.ts";
import {
  firstPagesSteps,
  headerSteps,
  mustRead,
  readBlobs,
  WORDS_A_STEP,
  type FileTable,
  type PathTable,
  type SegmentHeader,
} from "./segment-tables.ts";

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
  /** The number of bytes of memory that the tables take. */
  readonly bytes: number;
  paths(snapshot: Snapshot): PathTable;
  hashes(snapshot: Snapshot): Uint8Array;
  /** Copies the bytes [from, to) of the text to `target` at `at`. */
  copyText(snapshot: Snapshot, from: number, to: number, target: Uint8Array, at: number): void;
  /** Returns a copy of a blob's content. */
  blobText(snapshot: Snapshot, blob: number): Uint8Array;
}

/** Opens a segment. Returns undefined if the snapshot does not contain it. */
export const openSegment = (snapshot: Snapshot, segment: number): SegmentReader | undefined =>
  takeAll(openingSteps(snapshot, segment));

/**
 * Does the same as openSegment(), but in slices, so that it does not block the calling thread. Before V8 has compiled
 * the loops, opening a segment of 25 000 files with their paths and hashes takes 19 ms. REQUIRES: values that the
 * snapshot has returned stay valid during later reads.
 */
export const openSegmentInSlices = (
  snapshot: Snapshot,
  segment: number,
  pause: Pause,
): Promise<SegmentReader | undefined> => takeInSlices(openingSteps(snapshot, segment), pause);

function* openingSteps(snapshot: Snapshot, segment: number): Steps<SegmentReader | undefined> {
  const header = yield* headerSteps(snapshot, segment);
  if (!header) return undefined;
  yield;
  return new Reader(snapshot, segment, header, yield* tablesSteps(snapshot, segment, header));
}

/** The tables of a segment that are always in memory. */
type Tables = Pick<
  SegmentReader,
  "blobStarts" | "firstPages" | "pageBlobs" | "folds" | "files" | "blobFileStarts" | "blobFiles"
>;

function* tablesSteps(snapshot: Snapshot, segment: number, header: SegmentHeader): Steps<Tables> {
  const { content, pages, blobs } = header;
  const blobStarts = readBlobs(snapshot, header);
  yield;
  const firstPages = yield* firstPagesSteps(blobStarts, header.pageBytes);
  if (firstPages.at(-1) !== pages) throw corrupt(`the pages of segment ${segment}`);
  const pageBlobs = yield* pageBlobsSteps(firstPages);
  const folds = wordsOf(mustRead(snapshot, content, PART.FOLDS, 4 * wordsFor(pages)));
  const files = readFiles(snapshot, segment, header);
  yield;
  if (!isWithin(files, header)) throw corrupt(`the files of segment ${segment}`);
  yield;
  const [blobFileStarts, blobFiles] = yield* filesByBlobSteps(files.blobs, blobs);
  return { blobStarts, firstPages, pageBlobs, folds, files, blobFileStarts, blobFiles };
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
  #paths: PathTable | undefined;
  #hashes: Uint8Array | undefined;
  readonly #textKey: Buffer;
  /** The block that was read last, with its seal. */
  readonly #last = new LastRead();

  constructor(snapshot: Snapshot, segment: number, header: SegmentHeader, tables: Tables) {
    this.segment = segment;
    this.header = header;
    const { content, pageBytes, blockBytes } = header;
    this.pageBytes = pageBytes;
    this.#blockBytes = blockBytes;
    this.#textKey = segmentKey(content, PART.TEXT);
    this.blobStarts = tables.blobStarts;
    this.firstPages = tables.firstPages;
    this.pageBlobs = tables.pageBlobs;
    this.folds = tables.folds;
    this.files = tables.files;
    this.blobFileStarts = tables.blobFileStarts;
    this.blobFiles = tables.blobFiles;
    this.postings = new PostingsReader(snapshot, listsOfText(content), header.postingBlocks);
    this.#verified = new Uint8Array(Math.ceil(header.textBytes / blockBytes));
    if (content >= FIRST_MEMORY_SEGMENT) this.#verified.fill(1); // blocks of segments in memory have no seals
  }

  get bytes(): number {
    const { header } = this;
    const paths = this.#paths ? this.#paths.bytes.length + 4 * header.files : 0;
    return (
      (this.#hashes?.length ?? 0) +
      16 * header.blobs +
      4 * header.pages +
      11 * header.files +
      this.postings.bytes +
      paths
    );
  }

  paths(snapshot: Snapshot): PathTable {
    return (this.#paths ??= readPaths(snapshot, this.segment, this.header));
  }

  hashes(snapshot: Snapshot): Uint8Array {
    this.#hashes ??= mustRead(
      snapshot,
      this.header.content,
      PART.HASHES,
      HASH_BYTES * this.header.blobs,
    ).slice();
    return this.#hashes;
  }

  copyText(snapshot: Snapshot, from: number, to: number, target: Uint8Array, at: number): void {
    const { content } = this.header;
    if (this.#isVerified(from, to) && snapshot.copyText?.(content, from, to, target, at)) return;
    const blockBytes = this.#blockBytes;
    let block = Math.floor(from / blockBytes);
    for (let next = from; next < to; block++) {
      const start = block * blockBytes;
      const end = Math.min(to, start + blockBytes);
      const sealed = this.#block(snapshot, block);
      if (sealed.length - SEAL_BYTES < end - start) throw this.#isBroken(block);
      copyBytes(sealed, next - start, target, at + next - from, end - next);
      next = end;
    }
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

  /**
   * Returns a block of text followed by its seal. The result is valid until the next read. Reads nothing if the block
   * was read last and is still valid.
   */
  #block(snapshot: Snapshot, block: number): Uint8Array {
    const last = this.#last.get(block);
    if (last) return last;
    const key = renumber(this.#textKey, block);
    const value = snapshot.getSealed(key);
    if (!value || (!this.#verified[block] && !isSealed(key, value))) throw this.#isBroken(block);
    this.#verified[block] = 1;
    this.#last.keep(block, value);
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

// the loops are in functions of their own, because V8 does not optimize a loop of a generator while the loop runs

function* pageBlobsSteps(first: Uint32Array): Steps<Uint32Array> {
  const blobs = new Uint32Array(first.at(-1)!);
  for (let from = 0; from + 1 < first.length; from += WORDS_A_STEP) {
    yield;
    fillPageBlobs(blobs, first, from, Math.min(from + WORDS_A_STEP, first.length - 1));
  }
  return blobs;
}

function fillPageBlobs(blobs: Uint32Array, first: Uint32Array, from: number, to: number): void {
  for (let blob = from; blob < to; blob++)
    for (let page = first[blob]!; page < first[blob + 1]!; page++) blobs[page] = blob;
}

/** Groups the files by blob, with a counting sort. */
function* filesByBlobSteps(
  blobs: Uint32Array,
  count: number,
): Steps<[starts: Uint32Array, files: Uint32Array]> {
  const starts = countFiles(blobs, count);
  yield;
  const next = starts.slice();
  const files = new Uint32Array(starts[count]!);
  for (let from = 0; from < blobs.length; from += WORDS_A_STEP) {
    yield;
    placeFiles({ blobs, next, files }, from, Math.min(from + WORDS_A_STEP, blobs.length));
  }
  return [starts, files];
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

/**
 * Puts the files [from, to) after the earlier files of their blobs. `next` has the index for the next file of each
 * blob.
 */
function placeFiles(
  { blobs, next, files }: { readonly blobs: Uint32Array; next: Uint32Array; files: Uint32Array },
  from: number,
  to: number,
): void {
  for (let file = from; file < to; file++) {
    const blob = blobs[file]!;
    if (blob !== NO_BLOB) files[next[blob]!++] = file;
  }
}
