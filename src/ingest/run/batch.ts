/** Defines the batches that a run sends to workers, and their results, as plain data. */

import type { NewLayout } from "../../store/format/format.ts";
import type { SkipReason } from "../../store/format/records.ts";
import type { WrittenSegment } from "../../store/segments/segment-writer.ts";

/** Files of one repository for one worker. */
export interface Batch {
  readonly repository: number;
  /** The number of the segment to begin if none is open. */
  readonly segment: number;
  /** The owner of the write lease. */
  readonly owner: string;
  readonly layout: NewLayout;
  readonly maxFileSize: number;
  /** The bytes of memory at which the segment is completed. */
  readonly memoryBytes: number;
  /** The bytes of text at which the segment is completed. */
  readonly segmentBytes: number;
  /**
   * The minimum amount of text that a segment borrows. Infinity if the content may not be shared with stored segments.
   */
  readonly leastSharedBytes: number;
  /** Whether the segment gets no posting lists, so that a search reads all its text. Default false. */
  readonly hasNoLists?: boolean;
  readonly files: readonly BatchFile[];
}

export interface BatchFile {
  readonly path: string;
  /** The version of the file, HASH_BYTES long; all zero if unknown. */
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

/** The result of one file. `bytes` is the number of bytes read. */
export type Outcome =
  | { readonly kind: "added"; readonly bytes: number; readonly textBytes: number }
  /** The content is already indexed. `known` is the index of its hash in BatchFile.known. */
  | { readonly kind: "same"; readonly bytes: number; readonly known: number }
  /**
   * The content is not searchable. Nothing was added. To add the file without content, the run sends it again in
   * another batch.
   */
  | { readonly kind: "skipped"; readonly bytes: number; readonly reason: SkipReason }
  /** The file was added without content, for the reason in `skipped`. */
  | { readonly kind: "listed"; readonly bytes: 0 };

export interface BatchResult {
  /**
   * The results in order. If the segment is full, there are fewer results than files. The caller then finishes the
   * segment, and sends the remaining files again.
   */
  readonly outcomes: readonly Outcome[];
  readonly isFull: boolean;
  /**
   * The number of stored segments whose content may be borrowed. Finishing the segment needs one segment number for
   * each.
   */
  readonly lenders: number;
}

export type FinishResult = WrittenSegment[];
