/**
 * What one search did. The tables below are the only place a counter is named; a shard is a segment.
 * All are non-negative integers. `sum` counters add up over the parts of a search, the others are
 * times of the whole search.
 */

const SUMMED = [
  "actualMatchCount", // ranges in this response
  "totalMatchCount", // ranges in the index
  "fileCount", // files that match
  "matchTreeConstruction", // ns planning
  "matchTreeSearch", // ns scanning
  "shardFilesConsidered", // files in scope of the segments that were begun
  "filesConsidered", // files whose query tree evaluation was begun
  "filesLoaded", // files of which content was read
  "filesSkipped", // candidate files not evaluated: time, abort, damage
  "contentBytesLoaded", // bytes of content and symbol tables read
  "indexBytesLoaded", // bytes of posting data decoded, of segments wholly in scope
  "crashes", // segments whose evaluation failed
  "shardsScanned", // segments evaluated to the end
  "shardsSkipped", // segments not begun or not finished: time, abort
  "shardsSkippedFilter", // segments without a candidate file in scope
  "ngramLookups", // grams in the plan, once a segment
  "ngramMatches", // candidate pages handed to the scan
  "regexpsConsidered", // (file, expression) pairs evaluated
] as const;

const WHOLE = [
  "duration", // ns, from the call to the response
  "wait", // ns before a worker began
] as const;

export type Counter = (typeof SUMMED)[number] | (typeof WHOLE)[number];
export type FlushReason = "FLUSH_REASON_FINAL_FLUSH" | "FLUSH_REASON_TIMER_EXPIRED";
export type SearchStats = Record<Counter, number> & { flushReason: FlushReason };

export function zeroStats(): SearchStats {
  const counters = [...SUMMED, ...WHOLE].map((counter) => [counter, 0]);
  return {
    ...Object.fromEntries(counters),
    flushReason: "FLUSH_REASON_FINAL_FLUSH",
  } as SearchStats;
}

/** Adds the summed counters of `part`; times of the whole search are the caller's to set. */
export function addStats(total: SearchStats, part: Partial<SearchStats>): void {
  for (const counter of SUMMED) total[counter] += part[counter] ?? 0;
}
