/**
 * How much a person looking for code would want a file: an integer, by the table below; docs/ranking.md
 * explains it. Nothing in it depends on the layout of segments or on other files.
 */

import { FILE_FLAG } from "../store/format.ts";

export const WEIGHTS = {
  /** A definition's name is the searched text, begins or ends with it at a joint, or holds it. */
  definition: [0, 1500, 2600, 4000],
  /** The best edges of a match: 4 is a whole word, see kernel/assembly/edges.ts. */
  edge: [0, 150, 300, 450, 900],
  /** The searched text in a folder's name, in the base name, at an edge of it, or all of it but the extension. */
  path: [0, 60, 250, 450, 900],
  /** Several searched texts close together, at most. */
  together: 300,
  /** For ten times as many matches. */
  matches: 40,
  mostMatches: 120,
  test: -350,
  vendored: -1200,
  generated: -900,
  /** For a repository's rank of 1. */
  rank: 200,
} as const;

export interface FileFit {
  /** The mean of atomScore() over the atoms the file shows. */
  readonly fit: number;
  readonly count: number;
  readonly flags: number;
  /** 0 to 1. */
  readonly rank: number;
  /** Bytes between the nearest matches of different atoms; -1 for one atom. */
  readonly distance: number;
}

/** How one atom fits a file. */
export const atomScore = (edge: number, definition: number, path: number): number =>
  WEIGHTS.edge[edge]! + WEIGHTS.definition[definition]! + WEIGHTS.path[path]!;

export function scoreOf({ fit, count, flags, rank, distance }: FileFit): number {
  const matches = Math.min(WEIGHTS.mostMatches, WEIGHTS.matches * Math.log10(count));
  const together = distance < 0 ? 0 : WEIGHTS.together / (1 + distance / 64);
  return Math.round(fit + matches + together + penalty(flags) + WEIGHTS.rank * rank);
}

function penalty(flags: number): number {
  return (
    (flags & FILE_FLAG.TEST ? WEIGHTS.test : 0) +
    (flags & FILE_FLAG.VENDORED ? WEIGHTS.vendored : 0) +
    (flags & FILE_FLAG.GENERATED ? WEIGHTS.generated : 0)
  );
}

/** How a searched text fits a path. REQUIRES: both folded. */
export function pathFit(path: string, text: string): number {
  const at = path.lastIndexOf(text);
  if (at < 0) return 0;
  const base = path.lastIndexOf("/") + 1;
  if (at + text.length <= base) return 1;
  if (at < base) return 1;
  const dot = path.indexOf(".", base + 1);
  const end = dot < 0 ? path.length : dot;
  if (at === base && at + text.length === end) return 4;
  return at === base || at + text.length === end ? 3 : 2;
}
