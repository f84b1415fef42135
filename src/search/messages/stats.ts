/** Defines the counters of a search, and adds them up. */

/**
 * The counters of one search, see docs/counters.md. A shard is a segment. All counters are integers of at least 0.
 * Times are in nanoseconds; sums over threads may exceed `duration`.
 *
 * @example
 * const { stats } = await engine.search({ query: "todo", matches: 0 });
 * console.log(`${stats.totalMatchCount} matches in ${stats.duration / 1e6} ms`);
 */
export interface SearchStats {
  /** Ranges in this response. */
  actualMatchCount: number;
  /** Ranges of all files in the index that match. */
  totalMatchCount: number;
  /** Files that match. */
  fileCount: number;
  /** Nanoseconds of planning. */
  matchTreeConstruction: number;
  /** Nanoseconds of scanning. */
  matchTreeSearch: number;
  /** Files in scope, in the segments that a thread has begun to search. */
  shardFilesConsidered: number;
  /** Files for which the query was evaluated. */
  filesConsidered: number;
  /** Files whose content was read. */
  filesLoaded: number;
  /**
   * Candidate files that were not evaluated (time-out, abort, damage), and files whose result depends on unknown
   * symbols.
   */
  filesSkipped: number;
  /** Bytes read of content and symbol tables. */
  contentBytesLoaded: number;
  /** Bytes of decoded posting lists, in segments that are completely in scope. */
  indexBytesLoaded: number;
  /** Segments whose evaluation failed. */
  crashes: number;
  /** Segments evaluated to the end. */
  shardsScanned: number;
  /** Segments not begun or not finished, because of a time-out or abort. */
  shardsSkipped: number;
  /** Segments that have no candidate file in scope. */
  shardsSkippedFilter: number;
  /** Grams looked up, counted for each segment. */
  ngramLookups: number;
  /** Candidate pages to scan. */
  ngramMatches: number;
  /** (File, expression) pairs evaluated. */
  regexpsConsidered: number;
  /** Nanoseconds from the call to the response. */
  duration: number;
  /** Nanoseconds until a worker began. */
  wait: number;
  /** Whether time ran out before every segment was finished. */
  flushReason: FlushReason;
}

/**
 * Why a search ended: either every segment was finished or damaged, or time ran out.
 *
 * @example
 * const isPartial = (reason: FlushReason): boolean => reason === "FLUSH_REASON_TIMER_EXPIRED";
 */
export type FlushReason = "FLUSH_REASON_FINAL_FLUSH" | "FLUSH_REASON_TIMER_EXPIRED";
export type Counter = Exclude<keyof SearchStats, "flushReason">;

/** Whether a counter is summed over the parts of a search. The others are times of the whole search. */
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
