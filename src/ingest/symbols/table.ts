/**
 * The symbols of one file, in one array of numbers: a run of 78 000 files makes no object a symbol.
 *
 *     row := start end kind parent      four 32-bit numbers
 *
 * `start` and `end` are bytes of the name in the file, `kind` a position in SYMBOL_KINDS, `parent`
 * the position of another row or -1. The first `count` rows are definitions, sorted by start, each
 * start once. The rows after them are no definitions: names used only as parents, such as the type
 * of an `impl` that is defined elsewhere. Their own parent is -1.
 *
 * A `method` of `impl Widget` in a file without Widget's definition, as text `impl Widget { fn run() {} }`:
 * count 1, rows (17, 20, method, 1) and (5, 11, struct, -1).
 */
export interface SymbolTable {
  readonly count: number;
  readonly rows: Int32Array;
}

export const ROW_STRIDE = 4;
export const ROW = { start: 0, end: 1, kind: 2, parent: 3 } as const;

export const NO_SYMBOLS: SymbolTable = { count: 0, rows: new Int32Array(0) };

/** The same symbols in a text that begins `offset` bytes later. */
export function shiftTable({ count, rows }: SymbolTable, offset: number): SymbolTable {
  const shifted = rows.slice();
  for (let at = 0; at < rows.length; at += ROW_STRIDE) {
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
    const size = table.rows.length / ROW_STRIDE;
    const [first, firstOutside] = [defined, outside];
    for (let row = 0; row < size; row++) {
      const to = (row < table.count ? defined++ : outside++) * ROW_STRIDE;
      rows.set(table.rows.subarray(row * ROW_STRIDE, (row + 1) * ROW_STRIDE), to);
      const parent = rows[to + ROW.parent]!;
      if (parent >= table.count) rows[to + ROW.parent] = firstOutside + parent - table.count;
      else if (parent >= 0) rows[to + ROW.parent] = first + parent;
    }
  }
  return { count, rows };
}
