/** Finds the ranges of several patterns in one change or one message, and merges them. */

import { GrowableWords } from "../base/growable.ts";
import type { HistoryType } from "../query/ast.ts";
import { mergeRanges } from "../search/thread/scanning/ranges.ts";
import type { HistoryReader } from "../store/history/history-reader.ts";
import type { Snapshot } from "../store/lmdb/environment.ts";
import { SIDE } from "./plan.ts";
import { foldsBetween, type FinderTools, type TextFinder } from "./text-finder.ts";

export interface UnitPart {
  readonly side: "added" | "removed" | undefined;
  /** The 1-based line of the file, or of the message, with which the part begins. */
  readonly firstLine: number;
  /** The offset of the part in the text of its side. */
  readonly firstByte: number;
  readonly text: Uint8Array;
  /** The ranges in `text`, as pairs of offsets. */
  readonly pairs: Uint32Array;
}

interface RangesOptions {
  readonly reader: HistoryReader;
  readonly snapshot: Snapshot;
  readonly tools: FinderTools;
  readonly finders: readonly { readonly finder: TextFinder; readonly sides: number }[];
}

/** Yields the parts of a unit that have ranges, in the order in which git shows them. */
export function* rangesOfUnit(
  type: HistoryType,
  unit: number,
  { reader, snapshot, tools, finders }: RangesOptions,
): Generator<UnitPart> {
  if (type === "commit") {
    const { messageStarts } = reader.commits;
    const [from, to] = [messageStarts[unit]!, messageStarts[unit + 1]!];
    const text = reader.copyText(snapshot, from, to);
    const isFolded = foldsBetween(reader.text, from, to);
    const lists = listsOf(text, Uint32Array.of(0, to - from), { tools, finders, isFolded });
    const pairs = mergeRanges(lists);
    if (pairs.length > 0)
      yield {
        side: undefined,
        firstLine: 1,
        firstByte: 0,
        text: text.subarray(0, text.length - 1),
        pairs,
      };
    return;
  }
  const bytes = { added: 0, removed: 0 };
  for (const run of reader.runs(snapshot, unit))
    for (const side of ["removed", "added"] as const) {
      const lines = run[side];
      if (lines.length === 0) continue;
      const bit = side === "added" ? SIDE.ADDED : SIDE.REMOVED;
      const { text, starts, isFolded } = textOf(lines, reader, snapshot);
      const firstByte = bytes[side];
      bytes[side] += text.length;
      const wanted = finders.filter(({ sides }) => sides & bit);
      if (wanted.length === 0) continue;
      const pairs = mergeRanges(listsOf(text, starts, { tools, finders: wanted, isFolded }));
      const firstLine = side === "added" ? run.newLine : run.oldLine;
      if (pairs.length > 0) yield { side, firstLine, firstByte, text, pairs };
    }
}

/** Joins lines to one text, in which each is followed by a newline. */
function textOf(
  lines: Uint32Array,
  reader: HistoryReader,
  snapshot: Snapshot,
): { text: Uint8Array; starts: Uint32Array; isFolded: boolean } {
  const { lineStarts } = reader;
  const starts = new GrowableWords();
  let length = 0;
  for (const line of lines) {
    starts.push(length);
    length += lineStarts[line + 1]! - lineStarts[line]!;
  }
  starts.push(length);
  const text = new Uint8Array(length);
  let isFolded = false;
  // neighbouring lines are read together
  for (let i = 0; i < lines.length;) {
    const first = i;
    do i++;
    while (i < lines.length && lines[i] === lines[i - 1]! + 1);
    const [from, to] = [lineStarts[lines[first]!]!, lineStarts[lines[i - 1]! + 1]!];
    reader.text.copyText(snapshot, from, to, text, starts.view[first]!);
    isFolded ||= foldsBetween(reader.text, from, to);
  }
  return { text, starts: starts.view, isFolded };
}

function listsOf(
  text: Uint8Array,
  starts: Uint32Array,
  {
    tools: { arena },
    finders,
    isFolded,
  }: Pick<RangesOptions, "tools" | "finders"> & { readonly isFolded: boolean },
): Uint32Array[] {
  const mark = arena.mark();
  const at = arena.put(text);
  const lists = finders.map(({ finder }) => finder.ranges({ at, starts, isFolded }));
  arena.release(mark);
  return lists;
}
