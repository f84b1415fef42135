/**
 * Encodes and decodes the definitions of one blob. In memory, the definitions are a table of numbers. On disk, they are
 * a *run* of varints (seven bits per byte, lowest first), which takes about 3.3 bytes per definition.
 *
 *     table      := row*                         the first `count` are definitions, see SymbolTable
 *     run        := count owners definition* owner*
 *     definition := gap length kind [parent]
 *     owner      := start length kind            a name that is only a parent
 *
 * `gap` is the distance between the start of a name and the start of the previous name, minus one. For the first name,
 * the previous start is -1. In a definition, `kind` is four times the index in SYMBOL_KINDS, plus a number that says
 * what the parent is: 0 for none, 1 for the same parent as the previous definition's, 2 for the previous definition, 3
 * if `parent` follows. An even `parent` is twice the zigzag-encoded distance from the definition's row to the parent's
 * row. An odd `parent` is 1 + twice the parent's index among the owners. In an owner, `kind` is the index in
 * SYMBOL_KINDS.
 *
 * A blob without definitions has an empty run. *Example.* `class A { f() {} g() {} }`: class A at 6, methods f at 10
 * and g at 17. The run of this blob is 3 0, 6 1 12, 3 1 6, 6 1 5.
 */

import type { GrowableBytes } from "../../base/growable.ts";
import { corrupt } from "../format/sealed.ts";
import { SYMBOL_KINDS } from "./symbol-kinds.ts";

/**
 * The symbols of one file, in one array of numbers instead of an object for each symbol.
 *
 *     row := start end kind parent      SYMBOL_ROW 32-bit numbers
 *
 * `start` and `end` are the byte offsets of the name in the file. `kind` is an index in SYMBOL_KINDS. `parent` is the
 * index of another row, or -1. The first `count` rows are definitions, sorted by start, without duplicate starts. The
 * other rows are names that are only parents, such as the type of an `impl` if another file defines this type. The
 * `parent` of such a row is -1.
 *
 * *Example.* `impl Widget { fn run() {} }`, in a file without a definition of Widget: count 1, rows
 * (17, 20, method, 1) and (5, 11, struct, -1).
 */
export interface SymbolTable {
  readonly count: number;
  readonly rows: Int32Array;
}

export const SYMBOL_ROW = 4;
/** The offset of each column in a row. */
export const ROW = { start: 0, end: 1, kind: 2, parent: 3 } as const;

/** A symbol table that is reused for one blob after another, so `rows` may be longer than the table. */
export interface SymbolList {
  count: number;
  /** The number of all rows, including the names that are only parents. */
  total: number;
  rows: Int32Array;
}

export const newSymbolList = (): SymbolList => ({
  count: 0,
  total: 0,
  rows: new Int32Array(SYMBOL_ROW * 256),
});

const PARENT = { none: 0, same: 1, before: 2, other: 3 } as const;

/**
 * Returns true if a table has the form that SymbolTable describes, for a text of `textBytes` bytes. Writers check this
 * before they store a table, because a reader treats an invalid run as damage of the whole segment.
 */
export function isSoundTable({ count, rows }: SymbolTable, textBytes: number): boolean {
  const total = rows.length / SYMBOL_ROW;
  if (!Number.isInteger(total) || count > total) return false;
  for (let row = 0, before = -1; row < total; row++) {
    const at = row * SYMBOL_ROW;
    const start = rows[at + ROW.start]!;
    const parent = rows[at + ROW.parent]!;
    if (start < 0 || rows[at + ROW.end]! < start || rows[at + ROW.end]! > textBytes) return false;
    if (SYMBOL_KINDS[rows[at + ROW.kind]!] === undefined) return false;
    if (row >= count) {
      if (parent !== -1) return false;
      continue;
    }
    if (start <= before || parent < -1 || parent >= total || parent === row) return false;
    before = start;
  }
  return true;
}

/** Appends the run of a table to `out`. REQUIRES: isSoundTable() holds for the table. */
export function encodeSymbols({ count, rows }: SymbolTable, out: GrowableBytes): void {
  if (count === 0) return;
  const total = rows.length / SYMBOL_ROW;
  putVarint(out, count);
  putVarint(out, total - count);
  for (let row = 0, before = -1, parentBefore = -1; row < count; row++) {
    const at = row * SYMBOL_ROW;
    const [start, parent] = [rows[at]!, rows[at + 3]!];
    putVarint(out, start - before - 1);
    putVarint(out, rows[at + 1]! - start);
    const form = parentForm(row, parent, parentBefore);
    putVarint(out, 4 * rows[at + 2]! + form);
    if (form === PARENT.other)
      putVarint(out, parent >= count ? 2 * (parent - count) + 1 : 2 * zigzag(parent - row));
    [before, parentBefore] = [start, parent];
  }
  for (let at = count * SYMBOL_ROW; at < rows.length; at += SYMBOL_ROW) {
    putVarint(out, rows[at]!);
    putVarint(out, rows[at + 1]! - rows[at]!);
    putVarint(out, rows[at + 2]!);
  }
}

function parentForm(row: number, parent: number, parentBefore: number): number {
  if (parent < 0) return PARENT.none;
  if (parent === parentBefore) return PARENT.same;
  return parent === row - 1 ? PARENT.before : PARENT.other;
}

const zigzag = (value: number): number => (value << 1) ^ (value >> 31);
const unzigzag = (value: number): number => (value >>> 1) ^ -(value & 1);

function putVarint(out: GrowableBytes, value: number): void {
  let rest = value;
  for (; rest > 127; rest >>>= 7) out.pushByte((rest & 127) | 128);
  out.pushByte(rest);
}

/** A run and the position up to which it is decoded. */
class RunReader {
  readonly bytes: Uint8Array;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  varint(): number {
    const first = this.bytes[this.at++]!;
    return first < 128 ? first : this.#long(first & 127);
  }

  /** Reads the remaining bytes of a number whose lowest seven bits are `value`. */
  #long(value: number): number {
    for (let shift = 7; shift < 35; shift += 7) {
      const byte = this.bytes[this.at++]!;
      value |= (byte & 127) << shift;
      if (byte < 128) return value;
    }
    throw corrupt("a run of symbols");
  }
}

/** Decodes a run into `into`. Throws INDEX_CORRUPT if the run violates the format. */
export function decodeSymbols(run: Uint8Array, textBytes: number, into: SymbolList): void {
  into.count = into.total = 0;
  if (run.length === 0) return;
  const reader = new RunReader(run);
  const count = reader.varint();
  const total = count + reader.varint();
  if (3 * total > run.length) throw corrupt("a run of symbols");
  if (into.rows.length < SYMBOL_ROW * total) into.rows = new Int32Array(2 * SYMBOL_ROW * total);
  const { rows } = into;
  let isSound = readDefinitions(reader, rows, { count, total, textBytes });
  for (let at = count * SYMBOL_ROW; at < total * SYMBOL_ROW; at += SYMBOL_ROW) {
    rows[at] = reader.varint();
    rows[at + 1] = rows[at]! + reader.varint();
    rows[at + 2] = reader.varint();
    rows[at + 3] = -1;
    isSound &&= rows[at + 1]! <= textBytes && rows[at + 2]! < SYMBOL_KINDS.length;
  }
  if (!isSound || reader.at !== run.length) throw corrupt("a run of symbols");
  into.count = count;
  into.total = total;
}

/** Decodes the definitions of a run. Returns true if all of them are valid. */
function readDefinitions(
  reader: RunReader,
  rows: Int32Array,
  { count, total, textBytes }: { count: number; total: number; textBytes: number },
): boolean {
  let isSound = true;
  let start = -1;
  let parent = -1;
  for (let row = 0, at = 0; row < count; row++, at += SYMBOL_ROW) {
    start += reader.varint() + 1;
    const end = start + reader.varint();
    const kind = reader.varint();
    const form = kind & 3;
    if (form === PARENT.none) parent = -1;
    else if (form === PARENT.before) parent = row - 1;
    else if (form === PARENT.other) {
      const value = reader.varint();
      parent = value & 1 ? count + (value >>> 1) : row + unzigzag(value >>> 1);
    }
    rows[at] = start;
    rows[at + 1] = end;
    rows[at + 2] = kind >>> 2;
    rows[at + 3] = parent;
    if (start < 0 || end < start || end > textBytes || parent >= total || parent < -1)
      isSound = false;
    if (kind >>> 2 >= SYMBOL_KINDS.length) isSound = false;
  }
  return isSound;
}

/** Returns the number of definitions in a run, without decoding them. */
export function countSymbols(run: Uint8Array): number {
  return run.length === 0 ? 0 : new RunReader(run).varint();
}
