/** The rules that the counters of every answer obey. */

import type { Engine } from "../../src/engine.ts";
import { namesRevision } from "../../src/query/ast.ts";
import { parseQuery } from "../../src/query/parse.ts";
import type { SearchOptions, SearchRequest } from "../../src/search/messages/request.ts";
import type { SearchStats } from "../../src/search/messages/stats.ts";

/** A response, or the content of a stream's last event. */
interface Answer {
  readonly stats: SearchStats;
  readonly isSearchExhaustive: boolean;
}

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

/**
 * Returns the first broken rule. `segments` is the number of segments in scope, or undefined if it changes meanwhile.
 */
export function brokenInvariant(
  { stats, isSearchExhaustive }: Answer,
  segments: number | undefined,
): string | undefined {
  const rules = Object.entries(RULES).map(([name, holds]) => [name, holds(stats)] as const);
  const broken = [
    ...rules,
    ["exhaustive ⇔ all is returned and nothing was left out", isSearchExhaustive === isAll(stats)],
    [`every one of ${segments} segments has one end`, ends(stats) === (segments ?? ends(stats))],
  ].find(([, holds]) => !holds);
  return broken && `not ${broken[0]}: ${JSON.stringify({ isSearchExhaustive, ...stats })}`;
}

const isAll = (stats: SearchStats): boolean =>
  stats.actualMatchCount === stats.totalMatchCount &&
  [stats.crashes, stats.shardsSkipped, stats.filesSkipped].every((left) => left === 0);

const ends = (stats: SearchStats): number =>
  stats.shardsScanned + stats.shardsSkipped + stats.shardsSkippedFilter + stats.crashes;

/** Resolves to the number of segments with files in the scope of a request, determined by a search for all files. */
export async function segmentsInScope(
  engine: Engine,
  { query, isRegexEnabled = false, isCaseSensitivityEnabled = false }: SearchRequest,
  options: SearchOptions = {},
): Promise<number> {
  const dialect = { regex: isRegexEnabled, caseSensitive: isCaseSensitivityEnabled };
  const everything = namesRevision(parseQuery(query, dialect)) ? "rev:*" : '""';
  const { segments } = await engine.explain({ query: everything, matches: 0 }, options);
  return segments.length;
}
