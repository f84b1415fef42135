/** What must hold between the counters of every answer. */

import type { SearchStats } from "../../src/search/stats.ts";

const RULES: Record<string, (stats: SearchStats) => boolean> = {
  "all are whole and not negative": (stats) =>
    Object.values(stats).every(
      (value) => typeof value === "string" || (Number.isSafeInteger(value) && value >= 0),
    ),
  "fileCount ≤ filesConsidered": (s) => s.fileCount <= s.filesConsidered,
  "filesLoaded ≤ filesConsidered": (s) => s.filesLoaded <= s.filesConsidered,
  "filesConsidered ≤ shardFilesConsidered": (s) => s.filesConsidered <= s.shardFilesConsidered,
  "totalMatchCount ≥ fileCount": (s) => s.totalMatchCount >= s.fileCount,
  "actualMatchCount ≤ totalMatchCount": (s) => s.actualMatchCount <= s.totalMatchCount,
};

/** The first rule that does not hold. */
export function brokenInvariant(stats: SearchStats): string | undefined {
  const broken = Object.entries(RULES).find(([, holds]) => !holds(stats));
  return broken && `not ${broken[0]}: ${JSON.stringify(stats)}`;
}
