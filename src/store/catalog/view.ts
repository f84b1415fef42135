/** Defines what one search sees: a generation of the index, together with segments in memory. */

import type { SkippedFile } from "../format/records.ts";
import type { PackedSegment } from "../memory/memory-store.ts";
import type { Catalog } from "./catalog.ts";

export interface View {
  /** The catalog, including the segments in memory. */
  readonly catalog: Catalog;
  readonly packed: readonly PackedSegment[];
  /** Returns the skipped files of a repository. `indexed` contains the skipped files that the index lists. */
  readonly skipped: (repository: number, indexed: readonly SkippedFile[]) => readonly SkippedFile[];
}

export const viewOf = (catalog: Catalog): View => ({
  catalog,
  packed: [],
  skipped: (_, indexed) => indexed,
});
