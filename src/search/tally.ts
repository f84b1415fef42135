/** Adds up the threads' shares of a search into its counters. */

import type { SearchOutput, SegmentPart } from "./messages.ts";
import { addStats, zeroStats, type SearchStats } from "./stats.ts";

export interface Tally {
  readonly stats: SearchStats;
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
  let gone = 0;
  for (const parts of byPosition) {
    for (const { stats: part, nanoseconds } of parts)
      addStats(stats, { ...part, matchTreeSearch: nanoseconds });
    const failures = parts.flatMap(({ failure }) => failure ?? []);
    const isGone = failures.some(({ kind }) => kind === "gone");
    if (isGone) gone++;
    const damage = failures.find(({ kind }) => kind === "damaged");
    if (damage) damages.push(damage.message);
    addStats(stats, outcomeOf(parts, damage !== undefined || isGone));
  }
  return { stats, damages, gone };
}

/** What is counted once for a segment. */
function outcomeOf(parts: readonly SegmentPart[], isDamaged: boolean): Partial<SearchStats> {
  const plan = parts.find((part) => part.plan)?.plan;
  const considered = parts.reduce((sum, { stats }) => sum + stats.filesConsidered, 0);
  return {
    ...plan?.stats,
    matchTreeConstruction: plan?.nanoseconds ?? 0,
    filesSkipped: (plan?.candidates ?? considered) - considered,
    [isDamaged ? "crashes" : endOf(parts, plan)]: 1,
  };
}

function endOf(
  parts: readonly SegmentPart[],
  plan: SegmentPart["plan"],
): "shardsScanned" | "shardsSkipped" | "shardsSkippedFilter" {
  const done = parts.reduce((sum, { stepsDone }) => sum + stepsDone, 0);
  if (!plan || done < plan.steps) return "shardsSkipped";
  return plan.candidates > 0 ? "shardsScanned" : "shardsSkippedFilter";
}
