/**
 * Describes version 9 of the format of the data directory, which consists of one LMDB environment with one table, and
 * files of text. The first byte of a key says what the value contains.
 *
 *     0  name                       engine records: `format`, `manifest`, `lease`; `cluster`: what a
 *                                   cluster has stored in this directory
 *     1  repository                 one repository's record
 *     2  repository                 its files that are listed but not searchable, see skipped-files.ts
 *     3  repository segment rev     revision set: which of the repository's files in the segment belong to
 *                                   the revision; bit 0 is the repository's first file in the segment
 *     4  repository segment         versions of the repository's files in the segment, see file-versions.ts
 *     5  segment part number        everything else about a segment
 *
 * Numbers in keys are big-endian, so that the keys of a new segment come after those of older ones. Numbers in keys are
 * u32, except rev (u16) and part (u8). Every value is *sealed*, which means that the CRC-32 of the key and the payload
 * follows the payload as a u32. All numbers in values are little-endian. Records are MessagePack. A reader that finds a
 * value missing, truncated or with a wrong checksum throws INDEX_CORRUPT. It never guesses.
 *
 * **Segments** never change once a manifest names them. A segment's *text* is the concatenated content of its blobs.
 * The text is cut into blocks of `blockBytes`. Each blob is cut into pages of `pageBytes`, and its last page may be
 * shorter. An empty blob has no page. The header of the segment contains both sizes. Pages, blobs and files are
 * numbered from 0 in their segment. Files are ordered by repository number, then path (in bytes), then blob.
 *
 * A *blob* is a content in one language. All of its files have this language, and so have all files that borrow it. If
 * a segment has files with the same content in several languages, it has a blob for each of these languages, and stores
 * the content in each blob. So the symbols of a blob depend on nothing but its content and language, whatever other
 * files have the same content. Within a segment that stores its content, no two blobs have the same content and language.
 *
 *     part  number                            holds
 *     HEADER      0 and 1, a copy             record of counts, sizes and languages; three columns (u32): repository,
 *                                             its first file, number of its files (see columns.ts)
 *     TEXT        block                       `blockBytes` of text; absent if the text is in a file
 *     BLOBS       0                           where each blob begins in the text, and the end of the text (u32)
 *     HASHES      0                           the first 20 bytes of the SHA-256 of each blob
 *     FOLDS       0                           bitset of pages: folding changes a code point beyond
 *                                             ASCII in the page or the OVERLAP bytes after it
 *     GRAMS       0                           the first gram of each posting block (u32)
 *     POSTINGS    block                       posting lists, see postings.ts
 *     FILES       0                           u32 blob, u16 language, u8 flags: three columns
 *     PATHS       0                           where each path begins, and the end of the last (u32); then the paths
 *     SYMBOLS     edition, block              definitions, see symbols.ts; written later
 *     NAMES       edition, block              posting lists of the definitions' names, see name-lists.ts
 *     RANGES      edition, blob               finished ranges of an unfinished edition, see symbol-columns.ts
 *     RUNS        0                           which files are the lender's, see file-tables.ts; only in a
 *                                             segment that borrows; FILES and PATHS do not contain these files
 *     WORDS       version, block              blobs that have each stem, see words/word-lists.ts; written later
 *     HISTORY     table, block                commits, and changes of files, see history/tables.ts; only in a history
 *                                             segment, which has no files
 *     SEALS       0                           the seals of all blocks of text, see text-seals.ts; only if the
 *                                             text is in a file
 *
 * **Files of text.** If the text of a segment has FILE_BLOCKS blocks or more, it is not stored as values of part TEXT,
 * but in a file whose name is the number of the segment (lmdb/text-files.ts). The file contains the text and nothing
 * else. The file is on the disk before the manifest names the segment.
 *
 * If a file has no searchable content, its blob is NO_BLOB, and its flags contain the skip reason.
 *
 * *Example.* Repository 1 has `a.ts` and `b.ts`, both with the text `let x\n`. So segment 1 has one blob of 6 bytes,
 * one page, BLOBS 0 6, and four grams (`let et_ t_x _x_`, where `_` is any other byte). In FILES, both files have blob
 * 0. For revision `HEAD` (number 0), the set under key 3|1|1|0 is 11. When `b.ts` changes, the new `b.ts` is written to
 * segment 2. The set under key 3|1|1|0 becomes 10, and the set under key 3|1|2|0 is 1.
 *
 * docs/index-format.md describes the life of a segment, and when searches see it.
 *
 * The number of a new segment is at least the manifest's `nextSegment`, so no published number is used twice. One
 * transaction publishes a repository. It writes the record of the repository, its revision sets and the manifest. A
 * merge publishes its result and retires its inputs in one transaction. A retired segment is deleted after RETIRE_MS at
 * the earliest. If an edition of symbols was replaced, a later run deletes it. If a search no longer finds a segment or
 * an edition that it needs, the search starts again.
 *
 * **Borrowed content.** A segment may borrow its content from another segment, its *lender*. The content consists of
 * the parts TEXT, BLOBS, HASHES, FOLDS, GRAMS, POSTINGS, SYMBOLS, NAMES and WORDS. The borrowing segment stores only HEADER,
 * RUNS, FILES, PATHS and the versions of its files. RUNS says which of its files are also files of the lender, with the
 * same path, blob, language and flags. FILES and PATHS contain only the other files. The header of the borrowing
 * segment and its entry in the manifest name the lender. The languages in the header begin with those of the lender.
 * The files of the borrowing segment refer to blobs of the lender. Many blobs of the lender may have no file in the
 * borrowing segment.
 *
 * A lender always stores its own content. It is not deleted while another segment borrows from it, even if one of the
 * two is retired. All segments with the same content have the same edition of symbols. Segments that borrow from the
 * same lender can be merged into one segment that also borrows from it. Every other merge includes either all segments
 * with the same content or none of them.
 *
 * **Versions of this format**: In version 1, a segment's repositories and a repository's skipped files are MessagePack
 * maps. In version 2, they are columns. In version 3, the manifest's list of repositories consists of columns, too. In
 * version 4, segments may borrow content. In version 5, pages and blocks of text are half as long as before. In version
 * 6, segments may also borrow files, versions are stored without the zeros at their end, and headers have the sizes of
 * pages and blocks. In version 7, the text of a long segment is in a file. In version 8, all files of a blob have the same
 * language. In version 9, there are history segments, which the manifest lists separately.
 */

import { SEAL_BYTES } from "./sealed.ts";

export const FORMAT_VERSION = 9;

/** The sizes of the pages and blocks into which the text of a segment is cut. */
export interface Layout {
  /** The size of a page, the unit that posting lists point to. */
  readonly pageBytes: number;
  /** The size of a block of text. A block is stored as one value, or read from a file at once. */
  readonly blockBytes: number;
}

/** The layout of a new segment, and the minimum length of a text that is stored in a file. */
export interface NewLayout extends Layout {
  /** The minimum number of blocks of a text that is stored in a file. Default FILE_BLOCKS. */
  readonly fileBlocks?: number;
}

/**
 * The size of a page in new segments, and the maximum size of a page in any segment. docs/index-format.md has the
 * measurement.
 */
export const PAGE_BYTES = 4_096;
/** The number of bytes after a page whose grams also count as grams of the page. */
export const OVERLAP = 128;
/** The length of LMDB's header in front of a value that has pages of its own. */
const VALUE_HEADER_BYTES = 24;
/** Returns the length of the payload that exactly fills this many of LMDB's pages. */
export const filling = (pages: number): number => 4096 * pages - VALUE_HEADER_BYTES - SEAL_BYTES;

/** The size of a block of text in new segments, and the maximum size of a block in any segment. */
export const BLOCK_BYTES = filling(4);
export const LAYOUT: Layout = { pageBytes: PAGE_BYTES, blockBytes: BLOCK_BYTES };
/**
 * The minimum number of blocks, 2 MiB in total, of a text that is stored in a file. A file has to be flushed to the
 * disk separately. So the text of a small update is written in the transaction that the update needs anyway.
 */
export const FILE_BLOCKS = 128;
/** The maximum number of bytes of content in a segment. This limit keeps the offsets in a segment's text below 2^29. */
export const SEGMENT_BYTES = 256 * 2 ** 20;
/** The first number for segments in memory. The numbers of published segments begin at 1. */
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
  WORDS: 14,
  HISTORY: 15,
} as const;
export type Part = (typeof PART)[keyof typeof PART];

/** The bits of a file's flags. The higher bits contain the skip reason. */
export const FILE_FLAG = { TEST: 1, VENDORED: 2, GENERATED: 4 } as const;
export const SKIP_SHIFT = 3; // (1 + index in SKIP_REASONS) << SKIP_SHIFT; 0 for searchable files

/** The first byte of every key of a segment. PART_KEY_BYTES is the minimum length of a key that contains the part. */
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

/** Returns the last field of a segment's key, such as the number of a block. */
export const numberOf = (segmentKey: Buffer): number => segmentKey.readUInt32BE(6);

/** Returns the part of a segment to which a key of table 5 belongs. */
export const partOfKey = (segmentKey: Uint8Array): number | undefined => segmentKey[5];

/** Returns true if a key belongs to a block of text. */
export const isTextKey = (key: Uint8Array): boolean =>
  key[0] === SEGMENTS_TABLE && partOfKey(key) === PART.TEXT;

/** Sets the last field of a segment's key to `number`. Changes the key in place. */
export const renumber = (segmentKey: Buffer, number: number): Buffer => {
  segmentKey.writeUInt32BE(number, 6);
  return segmentKey;
};

/** Returns the half-open ranges of the keys that belong to a repository, except those of its segments. */
export const repositoryRanges = (repository: number): [start: Buffer, end: Buffer][] =>
  [1, 2, 3, 4].map((table) => [key(table, ...u32(repository)), key(table, ...u32(repository + 1))]);
export const segmentRange = (segment: number): [start: Buffer, end: Buffer] => [
  key(5, ...u32(segment)),
  key(5, ...u32(segment + 1)),
];
/** The range of all keys of all segments. */
export const SEGMENTS_RANGE: [start: Buffer, end: Buffer] = [key(5), key(6)];

/** Returns the segment to which a key of table 5 belongs. */
export const segmentOfKey = (bytes: Uint8Array): number =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).readUInt32BE(1);
