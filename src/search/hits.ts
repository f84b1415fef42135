/** From hits to counts and scores: what is counted of a matching file, and how it ranks. */

import { foldText } from "../kernel/folding.ts";
import type { PathTable } from "../store/segment-tables.ts";
import { contentRanges, fitOf, pairsOf, pathOf, pathRanges, shownBy } from "./file-shown.ts";
import type { Hit } from "./segment-search.ts";
import type { PreparedQuery } from "./prepare.ts";
import type { SegmentReader } from "../store/segment-reader.ts";
import { scoreOf } from "./score.ts";
import type { ThreadTools } from "./thread-tools.ts";
import { decodeText } from "./positions.ts";

export interface HitContext {
  readonly query: PreparedQuery;
  readonly tools: ThreadTools;
  readonly reader: SegmentReader;
  readonly paths: PathTable;
  /** Rank of the repository a file belongs to, 0 to 1. */
  readonly rankOf: (file: number) => number;
}

export interface Rated {
  readonly count: number;
  readonly score: number;
}

/** Ranges that a hit counts: those in its content or, without any, those in its path. */
export function rateHit(hit: Hit, context: HitContext): Rated {
  const { query, reader, paths } = context;
  const atoms = shownBy(query, hit.facts);
  const content =
    hit.index < 0 ? [] : atoms.content.filter((atom) => hit.found[atom]!.counts[hit.index]! > 0);
  const path = pathOf(paths, hit.file);
  const count =
    countContent(hit, content) || pathRanges(path, atoms.paths, query, context.tools).length / 2;
  const folded = foldPath(path);
  const score = scoreOf({
    atoms: content.map((atom) => fitOf(query, atom, hit.found[atom]!.edges[hit.index]!, folded)),
    count,
    flags: reader.files.flags[hit.file]!,
    rank: context.rankOf(hit.file),
    distance: content.length < 2 ? undefined : distanceOf(hit, content),
  });
  return { count, score };
}

function countContent(hit: Hit, content: readonly number[]): number {
  if (content.length === 0) return 0;
  if (content.length === 1) return hit.found[content[0]!]!.counts[hit.index]!;
  return contentRanges(content, hit.found, hit.index).length / 2;
}

/** The least distance between matches of the first atom and of each other one, at most. */
function distanceOf(hit: Hit, content: readonly number[]): number {
  const [first, ...others] = content.map((atom) => pairsOf(hit.found[atom]!, hit.index));
  return Math.max(...others.map((other) => gapBetween(first!, other)));
}

function gapBetween(a: Uint32Array, b: Uint32Array): number {
  let gap = Infinity;
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    gap = Math.min(gap, Math.abs(a[i]! - b[j]!));
    if (a[i]! < b[j]!) i += 2;
    else j += 2;
  }
  return gap;
}

/** Of ASCII without a detour over code points. */
function foldPath(path: Uint8Array): string {
  const text = decodeText(path);
  return text.length === path.length ? text.toLowerCase() : foldText(text);
}
