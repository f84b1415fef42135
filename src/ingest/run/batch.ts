/** What the run hands to a worker, and what comes back. Plain data: it crosses threads. */

import type { SkipReason } from "../../store/format/records.ts";
import type { WrittenSegment } from "../../store/segments/segment-writer.ts";

/** REQUIRES: files of one repository. */
export interface Batch {
  readonly repository: number;
  /** Number of the segment to begin if none is open. */
  readonly segment: number;
  /** The owner of the write lease. */
  readonly owner: string;
  readonly maxFileSize: number;
  /** Bytes the segment may hold in memory before it is ended. */
  readonly memoryBytes: number;
  readonly files: readonly BatchFile[];
}

export interface BatchFile {
  readonly path: string;
  /** HASH_BYTES, all zero when not known. */
  readonly version: Uint8Array;
  /** Numbers of the revisions that name it. */
  readonly revisions: readonly number[];
  readonly content: BatchContent;
  /** Hashes of the contents that the index holds under this path, HASH_BYTES each. */
  readonly known: Uint8Array;
}

export type BatchContent =
  | { readonly bytes: Uint8Array }
  | { readonly file: string; readonly isPinned?: boolean }
  | { readonly skipped: SkipReason };

/** What became of each file that was taken, in order. `bytes` were read. */
export type Outcome =
  | { readonly kind: "added"; readonly bytes: number; readonly textBytes: number }
  /** `known`: position among the known hashes. */
  | { readonly kind: "same"; readonly bytes: number; readonly known: number }
  /** Its content is not searchable. Nothing was added: that is asked for by a content of its own. */
  | { readonly kind: "skipped"; readonly bytes: number; readonly reason: SkipReason }
  /** Added without content, as its `skipped` says. */
  | { readonly kind: "listed"; readonly bytes: 0 };

export interface BatchResult {
  /** As many as were taken; fewer than given when the segment is full: end it, then send the rest again. */
  readonly outcomes: readonly Outcome[];
  readonly isFull: boolean;
}

export type FinishResult = WrittenSegment | undefined;
