/** What a thread counts of a segment: in its plan, and in its files as they are read. */

/** Counters of one segment's plan. */
export interface PlanStats {
  shardFilesConsidered: number;
  ngramLookups: number;
  ngramMatches: number;
  indexBytesLoaded: number;
}

/** Counters of the windows that were scanned. */
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
