/** Limits what an index run takes of the disk, what it reads for one repository, and the number of segments. */

/**
 * The most bytes of content that one repository may have, and that a run reads for it: a quarter of the largest data
 * directory. A pack of one megabyte can contain 30 GiB of files that all differ.
 */
export const MOST_CONTENT_BYTES = 2 ** 36;
/** The free disk space that a run must leave, in bytes. */
export const LEAST_FREE_BYTES = 2 ** 30;
/** The part of the free space that a run must leave on a disk with little free space. */
export const LEAST_FREE_PART = 1 / 10;

/** The least text that a segment borrows. A smaller one costs searches more than its text costs on disk. */
export const LEAST_SHARED_BYTES = 256 * 1024;

/** How many segments of about the same size become one. */
export const TIER_SEGMENTS = 8;
