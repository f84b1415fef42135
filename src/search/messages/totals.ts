/** Defines what a thread counts for a segment, while planning and while reading files. */

/** Counters of one segment's plan. */
export interface PlanStats {
  shardFilesConsidered: number;
  ngramLookups: number;
  ngramMatches: number;
  indexBytesLoaded: number;
}

/** Counters of the scanned windows. */
export interface WindowStats {
  filesConsidered: number;
  filesLoaded: number;
  contentBytesLoaded: number;
  regexpsConsidered: number;
}

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
