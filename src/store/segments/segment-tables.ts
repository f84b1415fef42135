/** Encodes and decodes the tables of a segment. format.ts describes their layout. */

import { firstIndex } from "../../base/binary-search.ts";
import { emptyBitset, setBit, type Bitset } from "../../base/bitset.ts";
import { bytesOf, wordsOf } from "../../base/growable.ts";
import { takeAll, takeInSlices, type Steps } from "../../base/steps.ts";
import type { Pause } from "../../base/yield.ts";
import {
  BLOCK_BYTES,
  FILE_FLAG,
  NO_BLOB,
  OVERLAP,
  PAGE_BYTES,
  PART,
  segmentKey,
  SKIP_SHIFT,
  type Layout,
  type Part,
} from "../format/format.ts";
import { SKIP_REASONS, type SkipReason } from "../format/records.ts";
import { decodeRecord, encodeRecord } from "../format/columns.ts";
import { corrupt, isCount } from "../format/sealed.ts";
import type { Snapshot, Writer } from "../lmdb/environment.ts";

/** The header of a segment. Its layout is that of the segment that stores the text. */
export interface SegmentHeader extends Layout {
  /**
   * The segment that stores the text, its posting lists and its symbols. This is either the segment itself or its
   * lender.
   */
  readonly content: number;
  readonly blobs: number;
  readonly pages: number;
  readonly files: number;
  readonly textBytes: number;
  /** The total length of the posting lists, in bytes. */
  readonly listBytes: number;
  readonly postingBlocks: number;
  readonly languages: readonly string[];
  readonly repositories: RepositoryColumns;
}

/** The range of files of each repository, as columns. The repositories and their files are in ascending order. */
export interface RepositoryColumns {
  readonly numbers: Uint32Array;
  /** The first file of each repository. */
  readonly firsts: Uint32Array;
  /** The number of files of each repository. */
  readonly counts: Uint32Array;
}

/**
 * Returns true if `count` files of a segment are all the files that use its content. If other files use it as well,
 * numbers about the content would reveal something about those files. Returns false for a segment that borrows its
 * content, because the lender may have other files.
 */
export const isAllContent = (
  segment: number,
  { content, files }: Pick<SegmentHeader, "content" | "files">,
  count: number,
): boolean => content === segment && count === files;

/** A repository's range of files in a segment. */
export interface RepositoryFiles {
  readonly repository: number;
  readonly first: number;
  readonly count: number;
}

/** Returns the number of the repository to which a file of the segment belongs. REQUIRES: the file exists. */
export function repositoryOf({ repositories }: SegmentHeader, file: number): number {
  const { numbers, firsts } = repositories;
  if (numbers.length === 1) return numbers[0]!;
  return numbers[firstIndex(0, firsts.length, (place) => firsts[place]! > file) - 1]!;
}

/** Returns the range of a repository's files in the segment, or undefined if the repository has no files there. */
export function filesOfRepository(
  { repositories }: SegmentHeader,
  repository: number,
): RepositoryFiles | undefined {
  const { numbers, firsts, counts } = repositories;
  const place = firstIndex(0, numbers.length, (at) => numbers[at]! >= repository);
  return numbers[place] === repository
    ? { repository, first: firsts[place]!, count: counts[place]! }
    : undefined;
}

export interface FileTable {
  /** The blob of each file, or NO_BLOB. */
  readonly blobs: Uint32Array;
  /** The language of each file, as an index in the header's `languages`. */
  readonly languages: Uint16Array;
  readonly flags: Uint8Array;
}

export interface PathTable {
  /** The offset of each path in `bytes`, followed by the end of the last path. */
  readonly starts: Uint32Array;
  readonly bytes: Uint8Array;
}

/** Returns the bytes of a file's path, as a view of the table. */
export const pathOf = ({ starts, bytes }: PathTable, file: number): Uint8Array =>
  bytes.subarray(starts[file]!, starts[file + 1]!);

/**
 * The numbers in the keys of the two copies of the header. There are two, because without a header, it would be unknown
 * which repositories the files belong to.
 */
export const HEADER_COPIES = [0, 1] as const;

/** A header without its columns. */
type HeaderRecord = Omit<SegmentHeader, "repositories" | "content"> & {
  /** The number of repositories with files in the segment. */
  readonly repositories: number;
  /** The lender. Absent if the segment stores its own content. */
  readonly content?: number;
};

export function putHeader(writer: Writer, segment: number, header: SegmentHeader): void {
  const value = encodeHeader(segment, header);
  for (const copy of HEADER_COPIES) writer.put(segmentKey(segment, PART.HEADER, copy), ...value);
}

export function encodeHeader(
  segment: number,
  { repositories, content, ...counts }: SegmentHeader,
): Uint8Array[] {
  const { numbers, firsts, counts: files } = repositories;
  const borrowed = content === segment ? {} : { content };
  const record: HeaderRecord = { ...counts, ...borrowed, repositories: numbers.length };
  return [...encodeRecord(record), ...[numbers, firsts, files].map(bytesOf)];
}

/**
 * Returns true if a segment with this stored header borrows its content. A segment from an object store must not
 * borrow.
 */
export const isBorrowing = (value: Uint8Array): boolean =>
  decodeRecord<HeaderRecord>(value, "a header", isHeader).record.content !== undefined;

const COUNTS = [
  "blobs",
  "pages",
  "files",
  "textBytes",
  "listBytes",
  "postingBlocks",
  "repositories",
] as const;

/**
 * Returns true if the buffers of readers are large enough for a layout, and the overlap of a page ends within the next
 * page.
 */
const isLayout = ({ pageBytes, blockBytes }: Readonly<Record<string, unknown>>): boolean =>
  isCount(pageBytes) &&
  isCount(blockBytes) &&
  pageBytes >= OVERLAP &&
  pageBytes <= Math.min(PAGE_BYTES, blockBytes) &&
  blockBytes <= BLOCK_BYTES;

const isHeader = (header: Readonly<Record<string, unknown>>): boolean =>
  COUNTS.every((name) => isCount(header[name])) &&
  isLayout(header) &&
  (header["content"] === undefined || isCount(header["content"])) &&
  Array.isArray(header["languages"]) &&
  header["languages"].every((language) => typeof language === "string");

export const isAscending = (words: Uint32Array): boolean => {
  for (let i = 1; i < words.length; i++) if (words[i]! < words[i - 1]!) return false;
  return true;
};

/** The number of words that are read between two yields. This takes 0.2 ms until V8 has compiled the loop. */
const WORDS_A_STEP = 16_384;

type Reading = Pick<Snapshot, "get">;

type HeaderCopy = (typeof HEADER_COPIES)[number];

/** Reads the first intact copy of the header. Returns undefined if the segment does not exist. */
export function readHeader(source: Reading, segment: number): SegmentHeader | undefined {
  return takeAll(headerSteps(source, segment));
}

export function readHeaderCopy(
  source: Reading,
  segment: number,
  copy: HeaderCopy,
): SegmentHeader | undefined {
  return takeAll(headerCopySteps(source, segment, copy));
}

/**
 * Does the same as readHeader(), but in slices, so that it does not block the calling thread. A header with 100 000
 * repositories takes 5 ms.
 */
export const readHeaderInSlices = (
  source: Reading,
  segment: number,
  pause: Pause,
): Promise<SegmentHeader | undefined> => takeInSlices(headerSteps(source, segment), pause);

type HeaderSteps = Steps<SegmentHeader | undefined>;

function* headerSteps(source: Reading, segment: number): HeaderSteps {
  const [first, second] = HEADER_COPIES;
  let found: SegmentHeader | undefined;
  let failure: unknown;
  try {
    found = yield* headerCopySteps(source, segment, first);
  } catch (error) {
    failure = error;
  }
  found ??= yield* headerCopySteps(source, segment, second);
  if (found === undefined && failure) throw failure;
  return found;
}

function* headerCopySteps(source: Reading, segment: number, copy: HeaderCopy): HeaderSteps {
  const what = `the header of segment ${segment}`;
  const value = source.get(segmentKey(segment, PART.HEADER, copy), what);
  if (!value) return undefined;
  const { record, columns } = decodeRecord<HeaderRecord>(value, what, isHeader);
  const count = record.repositories;
  const repositories = {
    numbers: columns.words(count),
    firsts: columns.words(count),
    counts: columns.words(count),
  };
  columns.end();
  for (const column of [repositories.numbers, repositories.firsts])
    for (let from = 0; from < count; from += WORDS_A_STEP) {
      yield;
      // includes one word of the next piece, to compare it with the last word of this piece
      if (!isAscending(column.subarray(from, from + WORDS_A_STEP + 1))) throw corrupt(what);
    }
  return { ...record, content: record.content ?? segment, repositories };
}

/** Reads the offset of each blob in the text, followed by the end of the last blob. */
export function readBlobs(
  snapshot: Snapshot,
  { content, blobs }: Pick<SegmentHeader, "content" | "blobs">,
): Uint32Array {
  const starts = wordsOf(mustRead(snapshot, content, PART.BLOBS, 4 * (blobs + 1)));
  if (!isAscending(starts)) throw corrupt(`the blobs of segment ${content}`);
  return starts;
}

/**
 * Reads a part of a segment. Throws INDEX_CORRUPT if the part does not have `bytes` bytes. REQUIRES: the result is used
 * or copied before the next read.
 */
export function mustRead(
  snapshot: Snapshot,
  segment: number,
  part: Part,
  bytes: number,
): Uint8Array {
  const what = `part ${part} of segment ${segment}`;
  const value = snapshot.get(segmentKey(segment, part), what);
  if (value?.length !== bytes) throw corrupt(what);
  return value;
}

/** Computes the first page of each blob, followed by the number of pages. */
export function firstPagesOf(blobStarts: Uint32Array, pageBytes: number): Uint32Array {
  const first = new Uint32Array(blobStarts.length);
  for (let blob = 1; blob < first.length; blob++) {
    const bytes = blobStarts[blob]! - blobStarts[blob - 1]!;
    first[blob] = first[blob - 1]! + Math.ceil(bytes / pageBytes);
  }
  return first;
}

export interface FileClass {
  readonly test: boolean;
  readonly vendored: boolean;
  readonly generated: boolean;
}

export const classFlags = (of: FileClass): number =>
  (of.test ? FILE_FLAG.TEST : 0) |
  (of.vendored ? FILE_FLAG.VENDORED : 0) |
  (of.generated ? FILE_FLAG.GENERATED : 0);

export const skipFlags = (reason: SkipReason): number =>
  (1 + SKIP_REASONS.indexOf(reason)) << SKIP_SHIFT;

export const skipReason = (flags: number): SkipReason | undefined =>
  SKIP_REASONS[(flags >>> SKIP_SHIFT) - 1];

/** Returns the files that have content. */
export function searchableFiles({ blobs }: FileTable): Bitset {
  const set = emptyBitset(blobs.length);
  for (let file = 0; file < blobs.length; file++) if (blobs[file] !== NO_BLOB) setBit(set, file);
  return set;
}
