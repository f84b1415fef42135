/** What a matching file shows: which of its ranges count. */

import type { PathTable } from "../../../store/segments/segment-tables.ts";
import { shown, type Facts } from "../scanning/evaluate.ts";
import type { PreparedQuery } from "../planning/prepare.ts";
import { mergeRanges } from "./ranges.ts";
import { newRangeList, type RangeList } from "../../../regex/range-list.ts";
import type { Re2Expression } from "../../../regex/re2.ts";
import type { Found } from "../scanning/scan.ts";
import type { ThreadTools } from "../thread-tools.ts";

/** The content and path atoms whose ranges a matching file shows. */
export interface ShownAtoms {
  readonly content: readonly number[];
  readonly paths: readonly number[];
}

export function shownBy(query: PreparedQuery, facts: Facts): ShownAtoms {
  if (query.shownAlways) return query.shownAlways;
  const atoms = new Set<number>();
  shown(query.root, facts, atoms);
  return byKind(atoms, query);
}

export function byKind(
  shown: ReadonlySet<number>,
  { atoms, contentAtoms }: Pick<PreparedQuery, "atoms" | "contentAtoms">,
): ShownAtoms {
  const ordered = [...shown].sort((a, b) => a - b);
  return {
    content: ordered.filter((atom) => contentAtoms.includes(atom)),
    paths: ordered.filter((atom) => atoms[atom]!.kind === "path"),
  };
}

/** The ranges of one atom in one visited blob. */
export function pairsOf(found: Found, index: number): Uint32Array {
  const start = 2 * found.starts[index]!;
  return found.pairs.subarray(start, start + 2 * found.counts[index]!);
}

/** Ranges that content atoms show in a blob, put together. */
export function contentRanges(
  atoms: readonly number[],
  found: readonly (Found | undefined)[],
  index: number,
): Uint32Array {
  const lists = atoms.map((atom) => found[atom]!).filter(({ counts }) => counts[index]! > 0);
  return lists.length === 0
    ? new Uint32Array(0)
    : mergeRanges(lists.map((one) => pairsOf(one, index)));
}

const ranges: RangeList = newRangeList();

/** What the ranges of an expression in a path become: those of whoever has the last word. */
export type Confirm = (
  expression: Re2Expression,
  path: Uint8Array,
  claimed: RangeList,
) => RangeList;

/** Ranges that path atoms show in a path; without any, the whole path is the one range. */
export function pathRanges(
  path: Uint8Array,
  atoms: readonly number[],
  { query, tools, confirm }: { query: PreparedQuery; tools: ThreadTools; confirm?: Confirm },
): Uint32Array {
  const mark = tools.arena.mark();
  const at = tools.arena.put(path);
  const lists = atoms.map((number) => {
    const atom = query.atoms[number]!;
    if (atom.kind !== "path") return new Uint32Array(0);
    ranges.length = 0;
    atom.matcher.ranges(at, at + path.length, ranges);
    const { data, length } = confirm ? confirm(atom.expression, path, ranges) : ranges;
    return data.slice(0, 2 * length);
  });
  tools.arena.release(mark);
  const merged = lists.length === 0 ? new Uint32Array(0) : mergeRanges(lists);
  return merged.length > 0 ? merged : Uint32Array.of(0, path.length);
}

export function pathOf({ starts, bytes }: PathTable, file: number): Uint8Array {
  return bytes.subarray(starts[file]!, starts[file + 1]!);
}
