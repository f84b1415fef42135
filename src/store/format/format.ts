/**
 * Describes the format of the data directory: one LMDB environment with one table, and files of text. The first byte of
 * a key says what its value contains. Format version 7.
 *
 *     0  name                       engine records: `format`, `manifest`, `lease`; `cluster`: what a
 *                                   cluster has put in this directory
 *     1  repository                 one repository's record
 *     2  repository                 its files that are listed but not searchable, see skipped-files.ts
 *     3  repository segment rev     revision set: which of the repository's files in the segment
 *                                   the revision names; a bitset that begins at its first file there
 *     4  repository segment         versions of the repository's files in the segment, see file-versions.ts
 *     5  segment part number        everything else about a segment
 *
 * Numbers in keys are big-endian, so that a new segment is appended. They are u32, except rev (u16) and part (u8).
 * Every value is *sealed*: its payload, then the CRC-32 of key and payload (u32, little-endian, as are all numbers in
 * values). Records are MessagePack. A reader that finds a value missing, truncated or with a wrong checksum throws
 * INDEX_CORRUPT. It never guesses.
 *
 * **Segments** never change once a manifest names them. A segment's *text* is the concatenated content of its blobs.
 * It is cut into blocks of `blockBytes`. A blob is cut into pages of `pageBytes`, of which the last may be shorter. An
 * empty blob has no page. Both sizes are in the segment's header. Pages, blobs and files are numbered from 0 in their
 * segment. Files are ordered by repository number, then path (in bytes), then blob.
 *
 *     part  number                            holds
 *     HEADER      0 and 1, a copy             record of counts, sizes and languages; three columns: repository
 *                                             (u32), its first file, how many (see columns.ts)
 *     TEXT        block                       `blockBytes` of text; absent if the text is in a file
 *     BLOBS       0                           where each blob begins in the text, and its end (u32)
 *     HASHES      0                           the first 20 bytes of the SHA-256 of each blob
 *     FOLDS       0                           bitset of pages: folding changes a code point beyond
 *                                             ASCII in the page or the OVERLAP bytes after it
 *     GRAMS       0                           the first gram of each posting block (u32)
 *     POSTINGS    block                       posting lists, see postings.ts
 *     FILES       0                           u32 blob, u16 language, u8 flags: three columns
 *     PATHS       0                           where each path begins (u32, and the end), then paths
 *     SYMBOLS     edition, block              definitions, see symbols.ts; written later
 *     NAMES       edition, block              posting lists of the definitions' names, see name-lists.ts
 *     RANGES      edition, blob               finished ranges of an unfinished edition, see symbol-columns.ts
 *     RUNS        0                           which files are the lender's, see file-tables.ts; only in a
 *                                             segment that borrows, whose FILES and PATHS lack these files
 *     SEALS       0                           the seals of all blocks of text, see text-seals.ts; only if the
 *                                             text is in a file
 *
 * **Files of text.** If the text of a segment has FILE_BLOCKS blocks or more, it is not in values of part TEXT,
 * but in a file with the segment's number (lmdb/text-files.ts). The file has the text and nothing else. It is on the
 * disk before the manifest names the segment.
 *
 * A file without searchable content has NO_BLOB as its blob, and its skip reason in the flags.
 *
 * *Example.* Repository 1 has `a.ts` and `b.ts`, both with the text `let x\n`. So segment 1 has one blob of 6 bytes,
 * one page, BLOBS 0 6, four grams (`let et_ t_x _x_`, where `_` is any other byte), FILES blob 0 0. For revision `HEAD`
 * (number 0), the key 3|1|1|0 has the set 11. When `b.ts` changes, segment 2 contains the new `b.ts`. The set at
 * 3|1|1|0 becomes 10, and the one at 3|1|2|0 is 1.
 *
 * docs/index-format.md describes the life of a segment, and who sees it when.
 *
 * The number of a new segment is at least the manifest's `nextSegment`, so no published number is used twice. One
 * transaction publishes a repository: its record, its revision sets and the manifest. A merge publishes its result and
 * retires its inputs in one transaction. A retired segment is deleted after RETIRE_MS at the earliest. A later run
 * deletes an edition of symbols that was replaced. A search that no longer finds its segment or edition starts again.
 *
 * **Borrowed content.** A segment may borrow the content of another one, its *lender*: the parts TEXT, BLOBS, HASHES,
 * FOLDS, GRAMS, POSTINGS, SYMBOLS and NAMES. It stores only HEADER, RUNS, FILES, PATHS and the versions of its files.
 * RUNS says which of its files are also files of the lender, with the same path, blob, language and flags. FILES and
 * PATHS contain only the others. Its header and its entry in the manifest name the lender. The header's languages begin
 * with those of the lender. Its files have the lender's blobs; many of these blobs may have no file here. A lender
 * stores its own content. It is not deleted while another segment borrows from it, even if one of the two is retired.
 * All segments with the same content have the same edition of symbols. Segments that borrow from one lender can be
 * merged into one that borrows from it. In all other merges, segments with the same content are merged together.
 *
 * **Versions of this format**: In version 1, a segment's repositories and a repository's skipped files are
 * MessagePack maps. In version 2 they are columns. In version 3, the manifest's list of repositories is columns, too.
 * In version 4, segments may borrow content. In version 5, pages and blocks of text are half as long as before. In
 * version 6, segments may also borrow files, versions are stored without the zeros at their end, and headers have the
 * sizes of pages and blocks. In version 7, the text of a long segment is in a file.
 */

import { SEAL_BYTES } from "./sealed.ts";

export const FORMAT_VERSION = 7;

/** How the text of a segment is cut. */
export interface Layout {
  /** The size of a page, the unit that posting lists point to. */
  readonly pageBytes: number;
  /** The size of a block of text, which is stored as one value, or read from a file at once. */
  readonly blockBytes: number;
}

/** How the text of a new segment is stored. */
export interface NewLayout extends Layout {
  /** The number of blocks from which on the text is in a file. Default FILE_BLOCKS. */
  readonly fileBlocks?: number;
}

/** The size of a page in new segments, and the largest one. docs/index-format.md has the measurement. */
export const PAGE_BYTES = 4_096;
/** The number of bytes after a page that its grams also cover. */
export const OVERLAP = 128;
/** LMDB's header in front of a value that has pages of its own. */
const VALUE_HEADER_BYTES = 24;
/** Returns the length of the payload that exactly fills this many of LMDB's pages. */
export const filling = (pages: number): number => 4096 * pages - VALUE_HEADER_BYTES - SEAL_BYTES;

/** The size of a block of text in new segments, and the largest one. */
export const BLOCK_BYTES = filling(4);
export const LAYOUT: Layout = { pageBytes: PAGE_BYTES, blockBytes: BLOCK_BYTES };
/**
 * The number of blocks of text, 2 MiB, from which on a segment has a file. A file must be flushed to the disk, so
 * the text of small updates is in the transaction that they need anyway.
 */
export const FILE_BLOCKS = 128;
/** The maximum amount of content in a segment. So offsets in its text stay below 2^29. */
export const SEGMENT_BYTES = 256 * 2 ** 20;
/** Segments in memory are numbered from here up, published ones from 1 up. */
export const FIRST_MEMORY_SEGMENT = 0x8000_0000;
export const HASH_BYTES = 20;
export const NO_BLOB = 0xffff_ffff;
export const RETIRE_MS = 10_000;

export const PART = {
  HEADER: 0,
  TEXT: 1,
  BLOBS: 2,
  HASHES: 3,
  FOLDS: 4,
  GRAMS: 5,
  POSTINGS: 6,
  FILES: 7,
  PATHS: 8,
  SYMBOLS: 9,
  NAMES: 10,
  RANGES: 11,
  RUNS: 12,
  SEALS: 13,
} as const;
export type Part = (typeof PART)[keyof typeof PART];

/** Bits of a file's flags. The higher bits contain the skip reason. */
export const FILE_FLAG = { TEST: 1, VENDORED: 2, GENERATED: 4 } as const;
export const SKIP_SHIFT = 3; // (1 + index in SKIP_REASONS) << SKIP_SHIFT; 0 for searchable files

/** The first byte of every key of a segment, and the minimum length of such a key. */
export const SEGMENTS_TABLE = 5;
export const PART_KEY_BYTES = 6;

const key = (...bytes: number[]): Buffer => Buffer.from(bytes);
const u32 = (value: number): number[] => [
  value >>> 24,
  (value >>> 16) & 255,
  (value >>> 8) & 255,
  value & 255,
];

export const engineKey = (name: "format" | "manifest" | "lease" | "cluster"): Buffer =>
  Buffer.concat([key(0), Buffer.from(name)]);
export const repositoryKey = (repository: number): Buffer => key(1, ...u32(repository));
export const skippedKey = (repository: number): Buffer => key(2, ...u32(repository));
export const revisionKey = (repository: number, segment: number, revision: number): Buffer =>
  key(3, ...u32(repository), ...u32(segment), revision >>> 8, revision & 255);
export const versionsKey = (repository: number, segment: number): Buffer =>
  key(4, ...u32(repository), ...u32(segment));
export const segmentKey = (segment: number, part: Part, number = 0): Buffer =>
  key(5, ...u32(segment), part, ...u32(number));

/** Returns the segment's number in a key. */
export const numberOf = (segmentKey: Buffer): number => segmentKey.readUInt32BE(6);

/** Returns the part of the segment that a key of table 5 belongs to. */
export const partOfKey = (segmentKey: Uint8Array): number | undefined => segmentKey[5];

/** Returns whether a key is that of a block of text. */
export const isTextKey = (key: Uint8Array): boolean =>
  key[0] === SEGMENTS_TABLE && partOfKey(key) === PART.TEXT;

/** Changes the segment's number in a key, in place. */
export const renumber = (segmentKey: Buffer, number: number): Buffer => {
  segmentKey.writeUInt32BE(number, 6);
  return segmentKey;
};

/** Returns the half-open key ranges that contain everything about a repository, except its segments. */
export const repositoryRanges = (repository: number): [start: Buffer, end: Buffer][] =>
  [1, 2, 3, 4].map((table) => [key(table, ...u32(repository)), key(table, ...u32(repository + 1))]);
export const segmentRange = (segment: number): [start: Buffer, end: Buffer] => [
  key(5, ...u32(segment)),
  key(5, ...u32(segment + 1)),
];
/** The range of all keys of all segments. */
export const SEGMENTS_RANGE: [start: Buffer, end: Buffer] = [key(5), key(6)];

/** Returns the segment that a key of table 5 belongs to. */
export const segmentOfKey = (bytes: Uint8Array): number =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).readUInt32BE(1);
