/** Collects the ranges in a matching file's content and path. */

import { newRangeList, type RangeList } from "../../../regex/range-list.ts";
import type { ExpressionSource } from "../../../regex/expression.ts";
import type { PreparedQuery } from "../planning/prepare.ts";
import type { Found } from "../reading/literal-scanner.ts";
import type { SearchTools } from "../reading/thread-tools.ts";
import { mergeRanges, RangeMerge } from "./ranges.ts";

/** Returns the ranges of one atom in one visited blob. */
export function pairsOf(found: Found, index: number): Uint32Array {
  const start = 2 * found.starts[index]!;
  return found.pairs.subarray(start, start + 2 * found.counts[index]!);
}

/** The number of ranges that are merged between two checks of the time limit. This takes about half a millisecond. */
export const RANGES_AT_ONCE = 4096;

/**
 * Returns a list of ranges for each content atom that has any in a visited blob. If the scan was stopped, some ranges
 * may be missing.
 */
export function shownLists(
  atoms: readonly number[],
  found: readonly (Found | undefined)[],
  index: number,
): Uint32Array[] {
  const lists: Uint32Array[] = [];
  for (const atom of atoms) {
    const one = found[atom];
    if (one && one.counts[index]! > 0) lists.push(pairsOf(one, index));
  }
  return lists;
}

/**
 * Merges lists of ranges, and yields to the event loop between slices. If the search is stopped, resolves to only the
 * first ranges.
 */
export async function mergeInSlices(
  lists: readonly Uint32Array[],
  { isStopped, pause }: Pick<SearchTools, "isStopped" | "pause">,
): Promise<Uint32Array> {
  if (lists.length <= 1) return lists[0] ?? new Uint32Array(0);
  const merge = new RangeMerge(lists);
  while (!merge.advance(RANGES_AT_ONCE) && !isStopped()) await pause();
  return merge.merged;
}

/** Returns the ranges of an expression in a path or a name, as confirmed or corrected by RE2. */
export type Confirm = (
  expression: ExpressionSource,
  text: Uint8Array,
  claimed: RangeList,
) => RangeList;

/** Returns the merged ranges of path atoms in a path. If there are none, returns the whole path as the only range. */
export function pathRanges(
  path: Uint8Array,
  atoms: readonly number[],
  {
    query,
    tools: { arena },
    confirm,
  }: {
    readonly query: PreparedQuery;
    readonly tools: Pick<SearchTools, "arena">;
    readonly confirm?: Confirm;
  },
): Uint32Array {
  const mark = arena.mark();
  const at = arena.put(path);
  const lists = atoms.map((number) => {
    const atom = query.atoms[number]!;
    if (atom.kind !== "path") return new Uint32Array(0);
    const ranges = newRangeList();
    atom.matcher.ranges(at, at + path.length, ranges);
    const isSure = !confirm || atom.isPlain;
    const { data, length } = isSure ? ranges : confirm(atom.expression, path, ranges);
    return data.slice(0, 2 * length);
  });
  arena.release(mark);
  const merged = lists.length === 0 ? new Uint32Array(0) : mergeRanges(lists);
  return merged.length > 0 ? merged : Uint32Array.of(0, path.length);
}
