/** The most that an index run takes of the disk and of one repository. */

/**
 * The most bytes of content that one repository may have, and that a run reads for it: a quarter of the largest data
 * directory. A pack of one megabyte can hold 30 GiB of files that all differ.
 */
export const MOST_CONTENT_BYTES = 2 ** 36;
/** The bytes of the disk that a run leaves free. */
export const LEAST_FREE_BYTES = 2 ** 30;
/** The part of the free bytes that a run leaves on a disk that has little room. */
export const LEAST_FREE_PART = 1 / 10;
