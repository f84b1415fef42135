/**
 * Limits how much an index run reads for one repository, how much disk space it leaves, and the number and size of
 * segments.
 */

import { SEGMENT_BYTES } from "../../store/format/format.ts";

/** The bounds that tests set to small values, so that small repositories reach them. */
export interface RunBounds {
  /** The maximum number of bytes of content that one repository may have, and that a run reads for it. */
  readonly mostContentBytes: number;
  /**
   * The minimum amount of text that a segment borrows. Borrowing less would slow searches down more than the saved disk
   * space is worth.
   */
  readonly leastSharedBytes: number;
  /** The maximum amount of text in a segment. */
  readonly segmentBytes: number;
  /** How many segments of about the same size become one. */
  readonly tierSegments: number;
}

export const RUN_BOUNDS: RunBounds = {
  // a quarter of the largest data directory; a limit is needed because a pack of 1 MB can contain 30 GiB of different
  // files
  mostContentBytes: 2 ** 36,
  leastSharedBytes: 256 * 1024,
  segmentBytes: SEGMENT_BYTES,
  tierSegments: 8,
};

/** The free disk space that a run must leave, in bytes. */
export const LEAST_FREE_BYTES = 2 ** 30;
/** The part of the free space that a run must leave on a disk with little free space. */
export const LEAST_FREE_PART = 1 / 10;
