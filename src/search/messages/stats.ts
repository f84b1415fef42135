/** Defines the counters of a search, and adds them up. */

/**
 * The counters of one search, see docs/counters.md. A shard is a segment. All counters are integers of at least 0.
 * Times are in nanoseconds. A time that is summed over threads may exceed `duration`.
 *
 * @example
 * const { stats } = await engine.search({ query: "todo", matches: 0 });
 * console.log(`${stats.totalMatchCount} matches in ${stats.duration / 1e6} ms`);
 */
export interface SearchStats {
  /** The number of ranges in this response. */
  actualMatchCount: number;
  /** The number of ranges in all matching files of the index. */
  totalMatchCount: number;
  /** The number of files that match. */
  fileCount: number;
  /** The time spent planning, in nanoseconds. */
  matchTreeConstruction: number;
  /** The time spent scanning, in nanoseconds. */
  matchTreeSearch: number;
  /** The number of files in scope, in those segments that a thread has begun to search. */
  shardFilesConsidered: number;
  /** The number of files for which the query was evaluated. */
  filesConsidered: number;
  /** The number of files whose content was read. */
  filesLoaded: number;
  /**
   * The number of candidate files that were not evaluated because of a time-out, an abort or damage. Also counts
   * files whose result depends on unknown symbols.
   */
  filesSkipped: number;
  /** The number of bytes that were read of content and of symbol tables. */
  contentBytesLoaded: number;
  /** The number of bytes of decoded posting lists, in segments that are completely in scope. */
  indexBytesLoaded: number;
  /** The number of segments whose evaluation failed. */
  crashes: number;
  /** The number of segments that were evaluated to the end. */
  shardsScanned: number;
  /** The number of segments that were not begun or not finished, because of a time-out or an abort. */
  shardsSkipped: number;
  /** The number of segments that have no candidate file in scope. */
  shardsSkippedFilter: number;
  /** The number of grams that were looked up, summed over the segments. */
  ngramLookups: number;
  /** The number of candidate pages to scan. */
  ngramMatches: number;
  /** The number of pairs of a file and an expression that were evaluated. */
  regexpsConsidered: number;
  /** The time from the call to the response, in nanoseconds. */
  duration: number;
  /** The time from the call until the first thread began to search, in nanoseconds. */
  wait: number;
  /** Tells whether time ran out before every segment was finished. */
  flushReason: FlushReason;
}

/**
 * The reason why a search ended. FLUSH_REASON_TIMER_EXPIRED means that time ran out before every segment was
 * finished. FLUSH_REASON_FINAL_FLUSH means that every segment was finished or damaged.
 *
 * @example
 * const isPartial = (reason: FlushReason): boolean => reason === "FLUSH_REASON_TIMER_EXPIRED";
 */
export type FlushReason = "FLUSH_REASON_FINAL_FLUSH" | "FLUSH_REASON_TIMER_EXPIRED";
export type Counter = Exclude<keyof SearchStats, "flushReason">;

/** Whether a counter is summed over the parts of a search. The other counters are times of the whole search. */
const IS_SUMMED: Record<Counter, boolean> = {
  actualMatchCount: true,
  totalMatchCount: true,
  fileCount: true,
  matchTreeConstruction: true,
  matchTreeSearch: true,
  shardFilesConsidered: true,
  filesConsidered: true,
  filesLoaded: true,
  filesSkipped: true,
  contentBytesLoaded: true,
  indexBytesLoaded: true,
  crashes: true,
  shardsScanned: true,
  shardsSkipped: true,
  shardsSkippedFilter: true,
  ngramLookups: true,
  ngramMatches: true,
  regexpsConsidered: true,
  duration: false,
  wait: false,
};

const COUNTERS = Object.keys(IS_SUMMED) as Counter[];
const SUMMED = COUNTERS.filter((counter) => IS_SUMMED[counter]);

const ZERO = {
  ...Object.fromEntries(COUNTERS.map((counter) => [counter, 0])),
  flushReason: "FLUSH_REASON_FINAL_FLUSH",
} as SearchStats;

export const zeroStats = (): SearchStats => ({ ...ZERO });

/** Adds the summed counters of `part` to `total`. The caller sets the times of the whole search. */
export function addStats(total: SearchStats, part: Partial<SearchStats>): void {
  for (const counter of SUMMED) total[counter] += part[counter] ?? 0;
}
