/** Prints symbols as lines that people can read and compare. */

import { ROW, SYMBOL_ROW, type SymbolTable } from "../../../src/store/symbols/symbol-run.ts";
import { SYMBOL_KINDS } from "../../../src/store/symbols/symbol-kinds.ts";

/**
 * Returns one line per symbol: `line:column kind parentKind:parentName/name`. Columns are counted in characters from 1.
 * If a parent is not a definition in the file, a `?` follows its kind.
 */
export function showSymbols({ count, rows }: SymbolTable, bytes: Uint8Array): string[] {
  const text = Buffer.from(bytes);
  const at = (row: number, column: number) => rows[row * SYMBOL_ROW + column]!;
  const name = (row: number) => text.toString("utf8", at(row, ROW.start), at(row, ROW.end));
  const kind = (row: number) => SYMBOL_KINDS[at(row, ROW.kind)]!;
  return Array.from({ length: count }, (_, row) => {
    const before = text.toString("utf8", 0, at(row, ROW.start)).split("\n");
    const place = `${before.length}:${Array.from(before.at(-1)!).length + 1}`;
    const parent = at(row, ROW.parent);
    const prefix = parent < 0 ? "" : `${kind(parent)}${parent < count ? "" : "?"}:${name(parent)}/`;
    return `${place} ${kind(row)} ${prefix}${name(row)}`;
  });
}
