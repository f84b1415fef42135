/** What is counted of a segment's files as they are read. */

import type { WindowStats } from "../thread/scanning/segment-search.ts";

export interface Totals extends WindowStats {
  fileCount: number;
  totalMatchCount: number;
}

export const zeroTotals = (): Totals => ({
  filesConsidered: 0,
  filesLoaded: 0,
  contentBytesLoaded: 0,
  regexpsConsidered: 0,
  fileCount: 0,
  totalMatchCount: 0,
});
