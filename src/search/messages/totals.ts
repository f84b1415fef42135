/** Defines what a thread counts for a segment, while planning and while reading files. */

/** The counters of the plan of one segment. */
export interface PlanStats {
  shardFilesConsidered: number;
  ngramLookups: number;
  ngramMatches: number;
  indexBytesLoaded: number;
}

/** The counters of the windows of text that were scanned. */
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
