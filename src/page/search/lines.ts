/** Splits a chunk into lines, and converts its ranges to the marks of each line. */

import type { Mark } from "../frame/marks.ts";
import type { Chunk, Range } from "../wire/answers.ts";

export interface Line {
  /** The number of the line, from 1. */
  number: number;
  text: string;
  marks: Mark[];
  /** The definition whose name is marked in this line. */
  symbol?: { symbol: string; kind: string };
}

export function linesOf({ content, contentStart, matchRanges, symbols = [] }: Chunk): Line[] {
  const texts = content.split("\n");
  if (texts.length > 1 && texts.at(-1) === "") texts.pop(); // the chunk ends with the newline of its last line
  return texts.map((text, index) => {
    const number = contentStart.lineNumber + index;
    const firstColumn = index === 0 ? contentStart.column : 1;
    const marks = matchRanges.flatMap((range) => markIn(text, { number, firstColumn }, range));
    const symbol = symbols.find(({ symbol }) =>
      marks.some((mark) => wordAround(text, mark).includes(symbol)),
    );
    return { number, text: text.replace(/\r$/, ""), marks, ...(symbol && { symbol }) };
  });
}

interface Place {
  number: number;
  /** The column of the text's first character, above 1 if only a part of a very long line is shown. */
  firstColumn: number;
}

function markIn(text: string, { number, firstColumn }: Place, { start, end }: Range): Mark[] {
  if (start.lineNumber > number || end.lineNumber < number) return [];
  const from = start.lineNumber < number ? 0 : index(text, start.column - firstColumn);
  const to = end.lineNumber > number ? text.length : index(text, end.column - firstColumn);
  return to > from ? [{ from, to }] : [];
}

/** Returns the UTF-16 index after `codePoints` code points. */
function index(text: string, codePoints: number): number {
  let at = 0;
  for (let n = 0; n < codePoints && at < text.length; n++)
    at += text.codePointAt(at)! > 0xffff ? 2 : 1;
  return at;
}

function wordAround(text: string, { from, to }: Mark): string {
  const before = /[\p{L}\p{N}_$]*$/u.exec(text.slice(0, from))![0];
  const after = /^[\p{L}\p{N}_$]*/u.exec(text.slice(to))![0];
  return before + text.slice(from, to) + after;
}

/** Removes a line's indentation, for places where lines of many files are shown together. */
export function withoutIndentation(line: Line): Line {
  const from = line.text.length - line.text.trimStart().length;
  const marks = line.marks.map((mark) => ({
    from: Math.max(0, mark.from - from),
    to: Math.max(0, mark.to - from),
  }));
  return { ...line, text: line.text.slice(from), marks };
}

/** Converts ranges to the marks of a path. A path is a text of one line. */
export function pathMarks(path: string, ranges: readonly Range[]): Mark[] {
  return ranges.flatMap((range) => markIn(path, { number: 1, firstColumn: 1 }, range));
}
