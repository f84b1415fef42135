/** Adds up what the threads have counted, and returns the counters of the search. */

import type { SearchOutput, SegmentPart } from "../messages/messages.ts";
import { zeroStats, type SearchStats } from "../messages/stats.ts";

/** The counter in which a segment is counted. Each segment of a search is counted in exactly one of them. */
export type SegmentEnd = "shardsScanned" | "shardsSkipped" | "shardsSkippedFilter" | "crashes";

export interface Tally {
  readonly stats: SearchStats;
  /** For each segment, the counter in which it is counted. The index is the segment's position in the search. */
  readonly ends: readonly SegmentEnd[];
  /** The error messages of damaged segments. */
  readonly damages: readonly string[];
  /** The number of segments that were merged away before they were searched. */
  readonly gone: number;
}

/** Adds up the outputs of the threads. `segments` is the number of segments in the search. */
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
 * Adds what one thread has counted in a segment. This adds each counter by its name, because addStats() would take
 * ten times as long for each segment.
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

/**
 * Moves each lost segment from its counter to the counter of crashes. The files of a lost segment were found but
 * cannot be shown.
 */
export function countLost(
  { stats, ends }: Pick<Tally, "stats" | "ends">,
  lost: Iterable<number>,
): void {
  for (const position of lost) {
    stats.crashes++;
    stats[ends[position]!]--;
  }
}

/** Adds the counters to which a segment contributes only once, even if several threads have searched it. */
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

/**
 * Returns whether the outputs contain the work in all segments of the search. A thread whose output is missing has then
 * found nothing. Returns false if a segment was lost.
 */
export function isComplete(outputs: readonly SearchOutput[], segments: number): boolean {
  const stepsLeft = new Map<number, number>();
  const planned = new Set<number>();
  for (const { parts } of outputs)
    for (const { position, plan, stepsDone, failure } of parts) {
      if (failure) return false;
      if (plan) planned.add(position);
      stepsLeft.set(position, (stepsLeft.get(position) ?? 0) + (plan?.steps ?? 0) - stepsDone);
    }
  return planned.size === segments && [...stepsLeft.values()].every((left) => left === 0);
}

/**
 * Returns the plan of a segment, which comes from the thread that began it. Returns undefined if no thread began it.
 */
const planOf = (parts: readonly SegmentPart[]): SegmentPart["plan"] =>
  parts.find(({ plan }) => plan)?.plan;
