/**
 * Finds the definition around a line, which is the innermost definition whose body contains the line. The end of a body
 * is found by indentation (src/base/definition-body.ts).
 *
 * The first candidate is the last definition before the line that is indented less than the line. The next candidate is
 * the last definition before the first candidate that is indented even less, and so on, up to a definition without
 * indentation. Lines come in ascending order, so the candidates are kept for the following lines. A file is therefore
 * read about once, however many lines and definitions it has.
 */

import { firstIndex } from "../../../base/binary-search.ts";
import { DefinitionBody, indentAt } from "../../../base/definition-body.ts";
import { SYMBOL_ROW, type SymbolList } from "../../../store/symbols/symbol-run.ts";

const NEWLINE = 10;
/**
 * The maximum number of bytes of definition bodies that are read in one file. Reading this many takes about 20 ms. Only
 * a hostile file exceeds this limit, with many definitions whose brackets are never closed. After that, no more
 * definitions are found around lines of the file.
 */
const MOST_BYTES = 4 * 2 ** 20;

interface Candidate {
  row: number;
  readonly lineStart: number;
  readonly indent: number;
  /** The reader of the definition's body, created when it is first needed. */
  body?: DefinitionBody;
}

/** A line's start and end, as Lines.at() returns them. */
interface Place {
  readonly start: number;
  readonly end: number;
}

/** Finds the definitions around lines of one file. */
export class Enclosing {
  readonly #text: Buffer;
  readonly #list: Pick<SymbolList, "count" | "rows">;
  readonly #mostBytes: number;
  /** The definitions whose bodies may contain the next line, each indented more than the previous one. */
  readonly #around: Candidate[] = [];
  /** The number of definitions before the line of the last call of at(). */
  #before = 0;
  /** The number of bytes of definition bodies that were read. */
  bytesRead = 0;

  /**
   * Creates an Enclosing for a text and its definitions.
   * REQUIRES: the text and the list do not change while this object is in use.
   */
  constructor(
    text: Buffer,
    list: Pick<SymbolList, "count" | "rows">,
    { mostBytes = MOST_BYTES } = {},
  ) {
    this.#text = text;
    this.#list = list;
    this.#mostBytes = mostBytes;
  }

  /**
   * Returns the row of the definition around a line, or -1 if there is none, or if a definition begins on the line
   * itself.
   * REQUIRES: the lines of successive calls are in ascending order.
   */
  at({ start, end }: Place): number {
    const { count, rows } = this.#list;
    const startOf = (row: number): number => rows[row * SYMBOL_ROW]!;
    const behind = firstIndex(this.#before, count, (row) => startOf(row) >= start);
    if (behind < count && startOf(behind) < end) return -1;
    this.#advance(behind);
    const indent = indentAt(this.#text, start);
    for (let i = this.#around.length - 1; i >= 0; i--) {
      const one = this.#around[i]!;
      if (one.indent >= indent) continue;
      if (this.#reaches(one, start)) return one.row;
      this.#around.splice(i, 1); // this definition ends before the line, and so before all following lines
    }
    return -1;
  }

  /**
   * Adds candidates from the definitions between the line of the last call and row `behind`. Tries these definitions in
   * reverse order.
   */
  #advance(behind: number): void {
    const fresh: Candidate[] = [];
    let lineStart = Infinity;
    for (let row = behind - 1; row >= this.#before; row--) {
      const start = this.#list.rows[row * SYMBOL_ROW]!;
      const last = fresh.at(-1);
      if (start >= lineStart) {
        if (last?.lineStart === lineStart) last.row = row; // the first definition of a line encloses the others
        continue;
      }
      if (last?.indent === 0) break;
      lineStart = start === 0 ? 0 : this.#text.lastIndexOf(NEWLINE, start - 1) + 1;
      const indent = indentAt(this.#text, lineStart);
      if (indent < (last?.indent ?? Infinity)) fresh.push({ row, lineStart, indent });
    }
    this.#before = behind;
    const least = fresh.at(-1)?.indent ?? Infinity;
    while (this.#around.length > 0 && this.#around.at(-1)!.indent >= least) this.#around.pop();
    this.#around.push(...fresh.reverse());
  }

  #reaches(one: Candidate, start: number): boolean {
    if (this.bytesRead >= this.#mostBytes) return false;
    one.body ??= new DefinitionBody(this.#text, one.lineStart);
    const before = one.body.bytesRead;
    const isReached = one.body.reaches(start);
    this.bytesRead += one.body.bytesRead - before;
    return isReached;
  }
}
