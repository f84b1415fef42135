/**
 * Defines the limits of index runs. They concern the content of one repository, the disk space that must stay free,
 * and the size and number of segments.
 */

import { SEGMENT_BYTES } from "../../store/format/format.ts";

/** The limits that tests set to small values, so that small repositories reach them. */
export interface RunBounds {
  /**
   * The maximum amount of content that one repository may have, in bytes. A run reads at most this much for a
   * repository.
   */
  readonly mostContentBytes: number;
  /**
   * The minimum amount of text that a segment borrows from another one, in bytes. If it borrowed less, the saved disk
   * space would not be worth the time that one more segment costs each search.
   */
  readonly leastSharedBytes: number;
  /** The maximum amount of text in a segment, in bytes. */
  readonly segmentBytes: number;
  /** The number of segments of about the same size that are merged into one. */
  readonly tierSegments: number;
}

export const RUN_BOUNDS: RunBounds = {
  // this is a quarter of the largest data directory; a limit is needed, because different files of 30 GiB in total fit
  // into a git pack of 1 MB
  mostContentBytes: 2 ** 36,
  leastSharedBytes: 256 * 1024,
  segmentBytes: SEGMENT_BYTES,
  tierSegments: 8,
};

/** The free disk space that a run must leave, in bytes. */
export const LEAST_FREE_BYTES = 2 ** 30;
/** The fraction of the free space that a run must leave, if this is less than LEAST_FREE_BYTES. */
export const LEAST_FREE_PART = 1 / 10;
