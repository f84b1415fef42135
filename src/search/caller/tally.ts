/** Adds up the threads' counts into the counters of a search. */

import type { SearchOutput, SegmentPart } from "../messages/messages.ts";
import { zeroStats, type SearchStats } from "../messages/stats.ts";

/** The counter that includes a segment. */
export type SegmentEnd = "shardsScanned" | "shardsSkipped" | "shardsSkippedFilter" | "crashes";

export interface Tally {
  readonly stats: SearchStats;
  /** The counter of each segment, by position. */
  readonly ends: readonly SegmentEnd[];
  /** The errors of damaged segments. */
  readonly damages: readonly string[];
  /** How many segments were merged away before they were searched. */
  readonly gone: number;
}

/** Adds up the outputs. `segments` is the number of segments to search. */
export function tally(outputs: readonly SearchOutput[], segments: number): Tally {
  const stats = zeroStats();
  const byPosition: SegmentPart[][] = Array.from({ length: segments }, () => []);
  for (const { parts } of outputs) for (const part of parts) byPosition[part.position]!.push(part);
  const damages: string[] = [];
  const ends: SegmentEnd[] = [];
  let gone = 0;
  for (const parts of byPosition) {
    for (const part of parts) addTotals(stats, part);
    addPlan(stats, parts);
    const isGone = parts.some(({ failure }) => failure?.kind === "gone");
    if (isGone) gone++;
    const damage = parts.find(({ failure }) => failure?.kind === "damaged");
    if (damage) damages.push(damage.failure!.message);
    const end = damage || isGone ? "crashes" : endOf(parts);
    ends.push(end);
    stats[end]++;
  }
  return { stats, ends, damages, gone };
}

/**
 * Adds what one thread has counted in a segment. Names each counter, because addStats() would take ten times as long
 * for each segment.
 */
function addTotals(into: SearchStats, { stats, nanoseconds }: SegmentPart): void {
  into.fileCount += stats.fileCount;
  into.totalMatchCount += stats.totalMatchCount;
  into.filesConsidered += stats.filesConsidered;
  into.filesLoaded += stats.filesLoaded;
  into.contentBytesLoaded += stats.contentBytesLoaded;
  into.regexpsConsidered += stats.regexpsConsidered;
  into.matchTreeSearch += nanoseconds;
}

/** Counts as crashed the segments whose files were found but cannot be shown. */
export function countLost(
  { stats, ends }: Pick<Tally, "stats" | "ends">,
  lost: Iterable<number>,
): void {
  for (const position of lost) {
    stats.crashes++;
    stats[ends[position]!]--;
  }
}

/** Adds counters that each segment contributes to only once. */
function addPlan(into: SearchStats, parts: readonly SegmentPart[]): void {
  const plan = planOf(parts);
  const considered = parts.reduce((sum, { stats }) => sum + stats.filesConsidered, 0);
  into.filesSkipped += (plan?.candidates ?? considered) - considered + (plan?.undecided ?? 0);
  if (!plan) return;
  into.matchTreeConstruction += plan.nanoseconds;
  into.shardFilesConsidered += plan.stats.shardFilesConsidered;
  into.ngramLookups += plan.stats.ngramLookups;
  into.ngramMatches += plan.stats.ngramMatches;
  into.indexBytesLoaded += plan.stats.indexBytesLoaded;
}

function endOf(parts: readonly SegmentPart[]): SegmentEnd {
  const plan = planOf(parts);
  const done = parts.reduce((sum, { stepsDone }) => sum + stepsDone, 0);
  if (!plan || done < plan.steps) return "shardsSkipped";
  return plan.candidates > 0 ? "shardsScanned" : "shardsSkippedFilter";
}

/** Returns the plan of the thread that began the segment, if one did. */
const planOf = (parts: readonly SegmentPart[]): SegmentPart["plan"] =>
  parts.find(({ plan }) => plan)?.plan;
