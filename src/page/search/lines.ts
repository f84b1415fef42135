/** Cuts a chunk into lines, and ranges into the marks of each line. */

import type { Chunk, Range } from "../wire/answers.ts";

/** UTF-16 positions in a line's text, end exclusive. */
export interface Mark {
  from: number;
  to: number;
}

export interface Line {
  /** 1-based. */
  number: number;
  text: string;
  marks: Mark[];
  /** The definition whose name is marked in this line. */
  symbol?: { symbol: string; kind: string };
}

export function linesOf({ content, contentStart, matchRanges, symbols = [] }: Chunk): Line[] {
  const texts = content.split("\n");
  if (texts.length > 1 && texts.at(-1) === "") texts.pop(); // the chunk ends with its last line's newline
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
  /** The column of the text's first character: a very long line is a window. */
  firstColumn: number;
}

function markIn(text: string, { number, firstColumn }: Place, { start, end }: Range): Mark[] {
  if (start.lineNumber > number || end.lineNumber < number) return [];
  const from = start.lineNumber < number ? 0 : index(text, start.column - firstColumn);
  const to = end.lineNumber > number ? text.length : index(text, end.column - firstColumn);
  return to > from ? [{ from, to }] : [];
}

/** The UTF-16 index behind so many code points. */
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

/** A text as plain and marked parts, in order. Marks may touch and overlap. */
export function partsOf(text: string, marks: readonly Mark[]): { text: string; marked: boolean }[] {
  const parts: { text: string; marked: boolean }[] = [];
  let at = 0;
  for (const { from, to } of [...marks].sort((a, b) => a.from - b.from)) {
    if (to <= at) continue;
    if (from > at) parts.push({ text: text.slice(at, from), marked: false });
    parts.push({ text: text.slice(Math.max(from, at), to), marked: true });
    at = to;
  }
  if (at < text.length || parts.length === 0) parts.push({ text: text.slice(at), marked: false });
  return parts;
}

/** The marks of a path, which is one line. */
export function pathMarks(path: string, ranges: readonly Range[]): Mark[] {
  return ranges.flatMap((range) => markIn(path, { number: 1, firstColumn: 1 }, range));
}
