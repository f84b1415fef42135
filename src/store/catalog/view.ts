/** What one search looks at: a generation of the index, and segments in memory beside those on the disk. */

import type { SkippedFile } from "../format/records.ts";
import type { PackedSegment } from "../memory/memory-store.ts";
import type { Catalog } from "./catalog.ts";

export interface View {
  /** Knows the segments in memory as it knows the others. */
  readonly catalog: Catalog;
  readonly packed: readonly PackedSegment[];
  /** A repository's files that are not searchable, given those of the index. */
  readonly skipped: (repository: number, indexed: readonly SkippedFile[]) => readonly SkippedFile[];
}

export const viewOf = (catalog: Catalog): View => ({
  catalog,
  packed: [],
  skipped: (_, indexed) => indexed,
});
