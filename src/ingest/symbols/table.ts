/** Tables of symbols put together: a file's parts, and the pieces of a torn one. */

import { ROW, SYMBOL_ROW, type SymbolTable } from "../../store/symbol-run.ts";

export const NO_SYMBOLS: SymbolTable = { count: 0, rows: new Int32Array(0) };

/** The same symbols in a text that begins `offset` bytes later. */
export function shiftTable({ count, rows }: SymbolTable, offset: number): SymbolTable {
  const shifted = rows.slice();
  for (let at = 0; at < rows.length; at += SYMBOL_ROW) {
    shifted[at + ROW.start]! += offset;
    shifted[at + ROW.end]! += offset;
  }
  return { count, rows: shifted };
}

/** The symbols of all parts of a file. REQUIRES: in order, without overlap. */
export function joinTables(tables: readonly SymbolTable[]): SymbolTable {
  const total = tables.reduce((sum, { rows }) => sum + rows.length, 0);
  const count = tables.reduce((sum, table) => sum + table.count, 0);
  const rows = new Int32Array(total);
  let defined = 0;
  let outside = count;
  for (const table of tables) {
    const size = table.rows.length / SYMBOL_ROW;
    const [first, firstOutside] = [defined, outside];
    for (let row = 0; row < size; row++) {
      const to = (row < table.count ? defined++ : outside++) * SYMBOL_ROW;
      rows.set(table.rows.subarray(row * SYMBOL_ROW, (row + 1) * SYMBOL_ROW), to);
      const parent = rows[to + ROW.parent]!;
      if (parent >= table.count) rows[to + ROW.parent] = firstOutside + parent - table.count;
      else if (parent >= 0) rows[to + ROW.parent] = first + parent;
    }
  }
  return { count, rows };
}
