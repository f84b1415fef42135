/**
 * Describes the scratch memory with which pagesWithAll() intersects posting lists (assembly/lists.ts):
 *
 *     scratch := listBytes entry[MOST_GRAMS] pages pages list* block
 *
 * The first set of pages is the result. The lists are those of the grams, and a block is added to them before it is
 * reduced to its list.
 */

/** The result of pagesWithAll() if a list violates the format. */
export const BROKEN = -1;
export const MOST_GRAMS = 256;
export const BITS = 16 + 8 * MOST_GRAMS;

const BLOCK_BYTES = 2 ** 14;
const bitmapBytes = (pages: number): number => Math.ceil(pages / 8);

/** The number of bytes of a set of pages, a multiple of 16. */
export const setBytes = (pages: number): number => ((pages + 127) >>> 7) << 4;

/** The maximum length of a block of lists: several lists have at most BLOCK_BYTES, and a single one is a bitmap. */
export const mostBlockBytes = (pages: number): number =>
  Math.max(BLOCK_BYTES, 12 + bitmapBytes(pages));

/** The size of the scratch memory for a number of grams. */
export const scratchBytes = (grams: number, pages: number): number =>
  BITS + 2 * setBytes(pages) + grams * bitmapBytes(pages) + mostBlockBytes(pages);
