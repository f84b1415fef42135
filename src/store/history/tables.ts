/**
 * Defines part HISTORY of a history segment, and stores its tables.
 *
 * A history segment belongs to one repository. It is a segment without files, whose text consists of *lines* and
 * *messages*. The lines are all different lines that the segment's changes add or remove, each followed by a newline.
 * The messages are those of its commits, in UTF-8, each followed by a newline. A *change* is one file in one commit. Each
 * change is in one segment, with all its lines, so a segment needs no other segment. Lines, changes and commits are
 * numbered from 0. Commits come newest first, as `git rev-list --date-order` lists them, and the changes of a commit in
 * the order of git's diff. A line's number is its place in the order of the first changes.
 *
 *     table     holds, as a stream of numbers (varints.ts)
 *     HEADER    HistoryHeader, in MessagePack
 *     COMMITS   for each commit: its id; the number of its parents; for each parent the distance to its number, or 0 and
 *               its id; author and committer (people); committer date (signed difference from the commit before);
 *               author date (signed difference from the committer date); flags; number of changes; message's length
 *     PEOPLE    for each person: the length of `name <mail>`, and its bytes
 *     PATHS     for each path: its length, and its bytes
 *     CHANGES   for each change: its path (signed difference from the change before); status and flags; the kinds of both
 *               sides; for a renamed file the old path (signed difference from the path); the length of its unit in FORWARD
 *     LINES     the length of each line
 *     GROUPS    for each GROUP lines: the first change of the first line (signed difference from the group before), and the
 *               length of their unit in INVERSE
 *     INVERSE   for each line: the number of its changes less 1; for each of these, 8 times the distance from the change
 *               before, plus 4 if the line occurs there more than once on a side, plus 2 if it is removed, plus 1 if it is
 *               added; if 4 is set, how often it is added, and removed. The first distance of a line counts from the first
 *               change of the line before, and at the start of a group from the group's change
 *     FORWARD   for each change: the number of its runs. A run consists of consecutive changed lines. For each run: the
 *               line of the old file and of the new file where it begins (signed differences from the run before); the
 *               number of its removed and of its added lines; then the numbers of these lines (signed differences from
 *               the line before, plus 1)
 *
 * A table is cut into values of at most VALUE_BYTES. INVERSE and FORWARD consist of units, which are not cut: a value
 * ends before the unit with which it would exceed UNIT_VALUE_BYTES.
 *
 * *Example.* The only commit adds `a` with the lines `x`, `y`, `x`. The text is `x\ny\n`, and the message. INVERSE has
 * `00 05 02 00` for `x` (one change, added twice, removed never) and `00 01` for `y`. FORWARD has `01`, `02 02 00 03` (the
 * run begins at line 1 of both files, removes no lines and adds three), and `02 02 03` less their signs: lines 0, 1, 0.
 */

import { pack } from "msgpackr";
import { filling, PART, segmentKey } from "../format/format.ts";
import { corrupt, isCount, unpackAs } from "../format/sealed.ts";
import type { Snapshot, Writer } from "../lmdb/environment.ts";

export const HISTORY = {
  HEADER: 0,
  COMMITS: 1,
  PEOPLE: 2,
  PATHS: 3,
  CHANGES: 4,
  LINES: 5,
  GROUPS: 6,
  INVERSE: 7,
  FORWARD: 8,
} as const;
export type HistoryTable = (typeof HISTORY)[keyof typeof HISTORY];

export const GROUP = 32;
export const VALUE_BYTES = filling(16);
export const UNIT_VALUE_BYTES = filling(4);
const TABLE_NUMBERS = 2 ** 24;

export interface HistoryHeader {
  readonly repository: number;
  /** The number of bytes of an id: 20, or 32 in a repository with SHA-256. */
  readonly idBytes: number;
  readonly commits: number;
  readonly changes: number;
  readonly lines: number;
  /** The part of the text that consists of lines. The rest consists of messages. */
  readonly lineBytes: number;
  readonly people: number;
  readonly paths: number;
  /** The length of each table that is read as a whole, by its number. */
  readonly lengths: readonly number[];
}

const keyOf = (segment: number, table: HistoryTable, block: number): Buffer =>
  segmentKey(segment, PART.HISTORY, table * TABLE_NUMBERS + block);

const nameOf = (segment: number): string => `the history in segment ${segment}`;

export function putHistoryHeader(writer: Writer, segment: number, header: HistoryHeader): void {
  writer.put(keyOf(segment, HISTORY.HEADER, 0), pack(header));
}

/** Returns whether a record is a header. Each row of a table takes at least one byte, which bounds all counts. */
function isHeader({ lengths, ...record }: Readonly<Record<string, unknown>>): boolean {
  if (!Array.isArray(lengths) || lengths.length !== HISTORY.FORWARD + 1) return false;
  const within = (name: string, table: HistoryTable): boolean =>
    isCount(record[name]) && record[name] <= (lengths[table] as number);
  return (
    lengths.every(isCount) &&
    isCount(record["repository"]) &&
    isCount(record["lineBytes"]) &&
    (record["idBytes"] === 20 || record["idBytes"] === 32) &&
    within("commits", HISTORY.COMMITS) &&
    within("people", HISTORY.PEOPLE) &&
    within("paths", HISTORY.PATHS) &&
    within("changes", HISTORY.CHANGES) &&
    within("lines", HISTORY.LINES)
  );
}

export function readHistoryHeader(snapshot: Snapshot, segment: number): HistoryHeader | undefined {
  const value = snapshot.get(keyOf(segment, HISTORY.HEADER, 0), nameOf(segment));
  if (!value) return undefined;
  return unpackAs<HistoryHeader>(value, nameOf(segment), isHeader);
}

/** Returns the values of a table that is read as a whole. */
export function* valuesOf(table: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from < table.length; from += VALUE_BYTES)
    yield table.subarray(from, from + VALUE_BYTES);
}

export const putHistoryValue = (
  writer: Writer,
  segment: number,
  [table, block]: readonly [table: HistoryTable, block: number],
  value: Uint8Array,
): void => writer.put(keyOf(segment, table, block), value);

/** Reads a table as a whole. */
export function readHistoryTable(
  snapshot: Snapshot,
  segment: number,
  table: HistoryTable,
  length: number,
): Uint8Array {
  if (length === 0) return new Uint8Array(0);
  // a wrong length is noticed before memory is taken for it
  const last = Math.floor((length - 1) / VALUE_BYTES);
  readHistoryValue(snapshot, segment, [table, last], length - last * VALUE_BYTES);
  const bytes = new Uint8Array(length);
  for (let at = 0, block = 0; at < length; at += VALUE_BYTES, block++)
    bytes.set(
      readHistoryValue(snapshot, segment, [table, block], Math.min(VALUE_BYTES, length - at)),
      at,
    );
  return bytes;
}

/** Reads one value. The result is valid until the next read of the snapshot. */
export function readHistoryValue(
  snapshot: Snapshot,
  segment: number,
  [table, block]: readonly [table: HistoryTable, block: number],
  length: number,
): Uint8Array {
  const value = snapshot.get(keyOf(segment, table, block), nameOf(segment));
  if (value?.length !== length) throw corrupt(nameOf(segment));
  return value;
}

/** Where each unit of a table begins, and which units are stored together. */
export class Units {
  /** The offset of each unit, and the end of the last. */
  readonly starts: Uint32Array;
  /** The first unit of each value, and the number of units. */
  readonly #firsts: number[] = [];

  /** REQUIRES: `starts` begins with 0, and is ascending. */
  constructor(starts: Uint32Array) {
    this.starts = starts;
    const units = starts.length - 1;
    let from = 0;
    for (let unit = 0; unit < units; unit++)
      if (unit === 0 || starts[unit + 1]! - from > UNIT_VALUE_BYTES) {
        this.#firsts.push(unit);
        from = starts[unit]!;
      }
    this.#firsts.push(units);
  }

  get values(): number {
    return this.#firsts.length - 1;
  }

  /** Returns the units [first, end) of a value. */
  range(value: number): readonly [first: number, end: number] {
    return [this.#firsts[value]!, this.#firsts[value + 1]!];
  }

  /** Returns the value that has a unit. */
  valueOf(unit: number): number {
    let [low, high] = [0, this.#firsts.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.#firsts[middle]! <= unit) low = middle;
      else high = middle;
    }
    return low;
  }

  /** Returns the offsets [from, to) of a value in the table. */
  extent(value: number): readonly [from: number, to: number] {
    const [first, end] = this.range(value);
    return [this.starts[first]!, this.starts[end]!];
  }
}
