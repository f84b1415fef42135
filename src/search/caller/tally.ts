/** Adds up the threads' shares of a search into its counters. */

import type { SearchOutput, SegmentPart } from "../messages/messages.ts";
import { addStats, zeroStats, type SearchStats } from "../messages/stats.ts";

/** The counter in which a segment is counted. */
export type SegmentEnd = "shardsScanned" | "shardsSkipped" | "shardsSkippedFilter" | "crashes";

export interface Tally {
  readonly stats: SearchStats;
  /** By position of the segment. */
  readonly ends: readonly SegmentEnd[];
  /** What was wrong with segments that could not be evaluated. */
  readonly damages: readonly string[];
  /** Segments that were merged away before they were searched. */
  readonly gone: number;
}

/** `segments`: how many were to be searched. */
export function tally(outputs: readonly SearchOutput[], segments: number): Tally {
  const stats = zeroStats();
  const byPosition: SegmentPart[][] = Array.from({ length: segments }, () => []);
  for (const { parts } of outputs) for (const part of parts) byPosition[part.position]!.push(part);
  const damages: string[] = [];
  const ends: SegmentEnd[] = [];
  let gone = 0;
  for (const parts of byPosition) {
    for (const { stats: part, nanoseconds } of parts)
      addStats(stats, { ...part, matchTreeSearch: nanoseconds });
    const failures = parts.flatMap(({ failure }) => failure ?? []);
    const isGone = failures.some(({ kind }) => kind === "gone");
    if (isGone) gone++;
    const damage = failures.find(({ kind }) => kind === "damaged");
    if (damage) damages.push(damage.message);
    const end = damage || isGone ? "crashes" : endOf(parts);
    ends.push(end);
    addStats(stats, { ...countedOnce(parts), [end]: 1 });
  }
  return { stats, ends, damages, gone };
}

/** Segments, by position, whose files were found and cannot be shown have crashed, however they ended. */
export function countLost(
  { stats, ends }: Pick<Tally, "stats" | "ends">,
  lost: Iterable<number>,
): void {
  for (const position of lost) {
    stats.crashes++;
    stats[ends[position]!]--;
  }
}

/** What is counted once for a segment. */
function countedOnce(parts: readonly SegmentPart[]): Partial<SearchStats> {
  const plan = planOf(parts);
  const considered = parts.reduce((sum, { stats }) => sum + stats.filesConsidered, 0);
  return {
    ...plan?.stats,
    matchTreeConstruction: plan?.nanoseconds ?? 0,
    filesSkipped: (plan?.candidates ?? considered) - considered + (plan?.undecided ?? 0),
  };
}

function endOf(parts: readonly SegmentPart[]): SegmentEnd {
  const plan = planOf(parts);
  const done = parts.reduce((sum, { stepsDone }) => sum + stepsDone, 0);
  if (!plan || done < plan.steps) return "shardsSkipped";
  return plan.candidates > 0 ? "shardsScanned" : "shardsSkippedFilter";
}

/** That of the thread that began the segment, if one did. */
const planOf = (parts: readonly SegmentPart[]): SegmentPart["plan"] =>
  parts.find(({ plan }) => plan)?.plan;
