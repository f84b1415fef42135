/**
 * Defines the batches of files that an index run sends to workers, and the results that the workers send back. Both
 * are plain data.
 */

import type { NewLayout } from "../../store/format/format.ts";
import type { SkipReason } from "../../store/format/records.ts";
import type { WrittenSegment } from "../../store/segments/segment-writer.ts";

/** Files of one repository, which are sent to one worker together. */
export interface Batch {
  readonly repository: number;
  /** The number of the segment. The worker begins this segment if it has no open one. */
  readonly segment: number;
  /** The owner of the write lease. */
  readonly owner: string;
  readonly layout: NewLayout;
  readonly maxFileSize: number;
  /** The segment is full when the worker uses this many bytes of memory for it. */
  readonly memoryBytes: number;
  /** The maximum amount of text in the segment, in bytes. A single larger file still gets a segment. */
  readonly segmentBytes: number;
  /**
   * The minimum amount of text that a segment borrows from another one, in bytes. Infinity if the content must not be
   * shared with stored segments.
   */
  readonly leastSharedBytes: number;
  /** True if the segment gets no posting lists. A search then reads all its text. Default false. */
  readonly hasNoLists?: boolean;
  readonly files: readonly BatchFile[];
}

export interface BatchFile {
  readonly path: string;
  /** The hash of the file's version, HASH_BYTES long. All bytes are zero if the version is unknown. */
  readonly version: Uint8Array;
  /** The numbers of the revisions that contain the file. */
  readonly revisions: readonly number[];
  readonly content: BatchContent;
  /** The hashes of the contents that are indexed under this path, HASH_BYTES each. */
  readonly known: Uint8Array;
}

export type BatchContent =
  | { readonly bytes: Uint8Array }
  | { readonly file: string; readonly isPinned?: boolean }
  | { readonly skipped: SkipReason };

/** The result for one file. `bytes` is the number of bytes that were read. */
export type Outcome =
  | { readonly kind: "added"; readonly bytes: number; readonly textBytes: number }
  /** The content is already indexed under this path. `known` is the index of its hash in BatchFile.known. */
  | { readonly kind: "same"; readonly bytes: number; readonly known: number }
  /**
   * The content is not searchable, and nothing was added. The run may send the file again, in another batch, to add
   * it without content.
   */
  | { readonly kind: "skipped"; readonly bytes: number; readonly reason: SkipReason }
  /** The file was added without content, for the reason in `skipped`. */
  | { readonly kind: "listed"; readonly bytes: 0 };

export interface BatchResult {
  /**
   * The results for the files, in the order of the batch. If the segment became full, there may be fewer results than
   * files. In this case, the caller finishes the segment, and sends the remaining files again.
   */
  readonly outcomes: readonly Outcome[];
  readonly isFull: boolean;
  /**
   * The number of stored segments from which content may be borrowed. To finish the segment, the caller must pass one
   * new segment number for each of them.
   */
  readonly lenders: number;
}

export type FinishResult = WrittenSegment[];
