/** The counters of a search: what each counts, and how they add up. */

/**
 * What one search did. A shard is a segment. All counters are integers from 0 up; times are in
 * nanoseconds, and sums of them over threads may exceed `duration`. See docs/counters.md.
 *
 * @example
 * const { stats } = await engine.search({ query: "todo", matches: 0 });
 * console.log(`${stats.totalMatchCount} matches in ${stats.duration / 1e6} ms`);
 */
export interface SearchStats {
  /** Ranges in this response. */
  actualMatchCount: number;
  /** Ranges in the index. */
  totalMatchCount: number;
  /** Files that match. */
  fileCount: number;
  /** Nanoseconds of planning. */
  matchTreeConstruction: number;
  /** Nanoseconds of scanning. */
  matchTreeSearch: number;
  /** Files in scope of the segments that were begun. */
  shardFilesConsidered: number;
  /** Files whose query tree evaluation was begun. */
  filesConsidered: number;
  /** Files of which content was read. */
  filesLoaded: number;
  /** Candidate files not evaluated: time, abort, damage; and those that symbols which are not known may decide. */
  filesSkipped: number;
  /** Bytes of content and symbol tables read. */
  contentBytesLoaded: number;
  /** Bytes of posting data decoded, of segments wholly in scope. */
  indexBytesLoaded: number;
  /** Segments whose evaluation failed. */
  crashes: number;
  /** Segments evaluated to the end. */
  shardsScanned: number;
  /** Segments not begun or not finished: time, abort. */
  shardsSkipped: number;
  /** Segments without a candidate file in scope. */
  shardsSkippedFilter: number;
  /** Grams in the plan, once a segment. */
  ngramLookups: number;
  /** Candidate pages handed to the scan. */
  ngramMatches: number;
  /** (File, expression) pairs evaluated. */
  regexpsConsidered: number;
  /** Nanoseconds from the call to the response. */
  duration: number;
  /** Nanoseconds before a worker began. */
  wait: number;
  /** Whether time ran out before every segment was finished. */
  flushReason: FlushReason;
}

/**
 * Why a search ended: every segment was finished (or met damage), or time ran out before.
 *
 * @example
 * const isPartial = (reason: FlushReason): boolean => reason === "FLUSH_REASON_TIMER_EXPIRED";
 */
export type FlushReason = "FLUSH_REASON_FINAL_FLUSH" | "FLUSH_REASON_TIMER_EXPIRED";
export type Counter = Exclude<keyof SearchStats, "flushReason">;

/** What adds up over the parts of a search; the others are times of the whole search. */
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

export function zeroStats(): SearchStats {
  return {
    ...Object.fromEntries(COUNTERS.map((counter) => [counter, 0])),
    flushReason: "FLUSH_REASON_FINAL_FLUSH",
  } as SearchStats;
}

/** Adds the summed counters of `part`; times of the whole search are the caller's to set. */
export function addStats(total: SearchStats, part: Partial<SearchStats>): void {
  for (const counter of SUMMED) total[counter] += part[counter] ?? 0;
}
