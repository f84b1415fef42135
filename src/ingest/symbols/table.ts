/**
 * Joins several tables of symbols into one. The tables are those of a file's embedded parts, or of the pieces in
 * which a file was parsed.
 */

import { firstIndex } from "../../base/binary-search.ts";
import { ROW, SYMBOL_ROW, type SymbolTable } from "../../store/symbols/symbol-run.ts";

export const NO_SYMBOLS: SymbolTable = { count: 0, rows: new Int32Array(0) };

/** Returns the table with `offset` added to all positions. */
export function shiftTable({ count, rows }: SymbolTable, offset: number): SymbolTable {
  const shifted = rows.slice();
  for (let at = 0; at < rows.length; at += SYMBOL_ROW) {
    shifted[at + ROW.start]! += offset;
    shifted[at + ROW.end]! += offset;
  }
  return { count, rows: shifted };
}

/**
 * Joins the tables of all parts of a file. REQUIRES: the tables are in the order of the parts, and the parts do not
 * overlap.
 */
export function joinTables(tables: readonly SymbolTable[]): SymbolTable {
  const total = tables.reduce((sum, { rows }) => sum + rows.length, 0);
  const count = tables.reduce((sum, table) => sum + table.count, 0);
  const rows = new Int32Array(total);
  let defined = 0;
  let parentsOnly = count;
  for (const table of tables) {
    const size = table.rows.length / SYMBOL_ROW;
    const [first, firstParentOnly] = [defined, parentsOnly];
    for (let row = 0; row < size; row++) {
      const to = (row < table.count ? defined++ : parentsOnly++) * SYMBOL_ROW;
      rows.set(table.rows.subarray(row * SYMBOL_ROW, (row + 1) * SYMBOL_ROW), to);
      const parent = rows[to + ROW.parent]!;
      if (parent >= table.count) rows[to + ROW.parent] = firstParentOnly + parent - table.count;
      else if (parent >= 0) rows[to + ROW.parent] = first + parent;
    }
  }
  return { count, rows };
}

/**
 * The symbols of a range of a text. The range is in bytes, and the positions of the symbols refer to the whole text.
 */
export interface Piece {
  readonly from: number;
  readonly to: number;
  readonly table: SymbolTable;
}

/**
 * Counts the definitions whose names begin in [from, to). `isNested` is true if the parent of any of them is outside
 * this range.
 */
export function contentOf(
  { count, rows }: SymbolTable,
  from: number,
  to: number,
): { readonly count: number; readonly isNested: boolean } {
  const first = firstFrom(rows, count, from);
  const end = firstFrom(rows, count, to);
  let isNested = false;
  for (let row = first; row < end; row++) {
    const parent = rows[row * SYMBOL_ROW + ROW.parent]!;
    if (parent >= 0 && parent < count && (parent < first || parent >= end)) isNested = true;
  }
  return { count: end - first, isNested };
}

/** Returns the row of the first definition whose name begins at or after `place`. */
const firstFrom = (rows: Int32Array, count: number, place: number): number =>
  firstIndex(0, count, (row) => rows[row * SYMBOL_ROW + ROW.start]! >= place);

/** A row that has no position in the new table yet, together with the row of its parent. */
interface Loose {
  readonly row: Int32Array;
  readonly parent: Int32Array | undefined;
}

/**
 * Replaces the definitions in some ranges of a text by those of the pieces. REQUIRES: the pieces are in order and do
 * not overlap.
 */
export function replacePieces(whole: SymbolTable, pieces: readonly Piece[]): SymbolTable {
  const loose: Loose[] = [];
  let from = 0;
  for (const { from: start, to, table } of [...pieces, END]) {
    loosen(whole, firstFrom(whole.rows, whole.count, from), start, loose);
    loosen(table, 0, Infinity, loose);
    from = to;
  }
  return fasten(loose);
}

const END: Piece = { from: Infinity, to: Infinity, table: NO_SYMBOLS };

/** Appends definitions to `into`, from row `first` up to the first definition whose name begins at or after `limit`. */
function loosen({ count, rows }: SymbolTable, first: number, limit: number, into: Loose[]): void {
  const rowAt = (row: number) => rows.subarray(row * SYMBOL_ROW, (row + 1) * SYMBOL_ROW);
  for (let row = first; row < count && rowAt(row)[ROW.start]! < limit; row++) {
    const parent = rowAt(row)[ROW.parent]!;
    into.push({ row: rowAt(row), parent: parent < 0 ? undefined : rowAt(parent) });
  }
}

/**
 * Makes a table from separate rows. The parent of a row is the definition whose name starts at the same position as
 * the name of its old parent. If there is no such definition, the old parent becomes a row at the end of the table,
 * which does not count as a definition.
 */
function fasten(loose: readonly Loose[]): SymbolTable {
  const positions = new Map(loose.map(({ row }, position) => [row[ROW.start]!, position]));
  const parentsOnly: Int32Array[] = [];
  const parentOf = (parent: Int32Array | undefined): number => {
    if (parent === undefined) return -1;
    const start = parent[ROW.start]!;
    const known = positions.get(start);
    if (known !== undefined) return known;
    positions.set(start, loose.length + parentsOnly.length);
    parentsOnly.push(parent);
    return loose.length + parentsOnly.length - 1;
  };
  const parents = loose.map(({ parent }) => parentOf(parent));
  const rows = new Int32Array((loose.length + parentsOnly.length) * SYMBOL_ROW);
  [...loose.map(({ row }) => row), ...parentsOnly].forEach((row, position) => {
    rows.set(row, position * SYMBOL_ROW);
    rows[position * SYMBOL_ROW + ROW.parent] = parents[position] ?? -1;
  });
  return { count: loose.length, rows };
}
