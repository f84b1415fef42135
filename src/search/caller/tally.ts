/** Adds up the threads' counts into the counters of a search. */

import type { SearchOutput, SegmentPart } from "../messages/messages.ts";
import { addStats, zeroStats, type SearchStats } from "../messages/stats.ts";

/** The counter that includes a segment. */
export type SegmentEnd = "shardsScanned" | "shardsSkipped" | "shardsSkippedFilter" | "crashes";

export interface Tally {
  readonly stats: SearchStats;
  /** The counter of each segment, by position. */
  readonly ends: readonly SegmentEnd[];
  /** The error messages of damaged segments. */
  readonly damages: readonly string[];
  /** The number of segments that were merged away before they were searched. */
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

/** Counts segments as crashed whose files were found but cannot be shown. */
export function countLost(
  { stats, ends }: Pick<Tally, "stats" | "ends">,
  lost: Iterable<number>,
): void {
  for (const position of lost) {
    stats.crashes++;
    stats[ends[position]!]--;
  }
}

/** Returns the counters that are counted once for each segment. */
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

/** Returns the plan of the thread that began the segment, if one did. */
const planOf = (parts: readonly SegmentPart[]): SegmentPart["plan"] =>
  parts.find(({ plan }) => plan)?.plan;
