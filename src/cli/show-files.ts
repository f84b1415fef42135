/**
 * Formats found files for people:
 *
 *     task-queue:src/retry.ts
 *     11-/** Tries again. *\/          - context
 *     12:export function retry() {     : a line with a match
 *     --                               lines left out
 */

import type { Chunk, FileResult, Range } from "../search/messages/response.ts";
import type { Paint, Style } from "./style.ts";

interface Line {
  readonly number: number;
  readonly text: string;
  /** The columns of matches, as 0-based code points of `text`, with exclusive ends. Absent if the line has no match. */
  readonly marks: readonly (readonly [number, number])[] | undefined;
  /** Whether a change adds (+) or removes (-) the line. */
  readonly sign?: string;
}

export interface FileView {
  readonly style: Style;
  /** Whether to print the revisions of a file. */
  readonly revisions: boolean;
  /** The numbers of context lines to show before and after each match. Default: all that the chunks contain. */
  readonly before?: number;
  readonly after?: number;
}

export function showFile(file: FileResult, view: FileView): string[] {
  const lines = [showHeading(file, view)];
  let last: number | undefined;
  for (const line of file.chunks.flatMap((chunk) => near(signed(chunk), view))) {
    if (last !== undefined && line.number !== last + 1 && !line.sign)
      lines.push(view.style.quiet("--"));
    lines.push((line.sign ?? "") + showLine(line, view.style));
    last = line.number;
  }
  return lines;
}

/** Returns the lines of a chunk, with their side if it is part of a change. */
const signed = (chunk: Chunk): Line[] =>
  chunk.side === undefined
    ? linesOf(chunk)
    : linesOf(chunk).map((line) => ({ ...line, sign: chunk.side === "added" ? "+" : "-" }));

/** Formats each match as a line `path:line:column:text`, which editors can read. Columns are 1-based bytes. */
export function showForEditor(file: FileResult, path: string, { foreign }: Style): string[] {
  if (file.chunks.length === 0) return [foreign(`${path}:1:1:`)];
  return file.chunks.flatMap((chunk) => {
    const lines = linesOf(chunk);
    const first = chunk.contentStart;
    return chunk.matchRanges.map(({ start }) => {
      const { text } = lines[start.lineNumber - first.lineNumber]!;
      const skipped = start.lineNumber === first.lineNumber ? first.column - 1 : 0;
      const before = Array.from(text).slice(0, start.column - 1 - skipped);
      const column = skipped + Buffer.byteLength(before.join("")) + 1;
      return foreign(`${path}:${start.lineNumber}:${column}:${text.replace(/\r$/, "")}`);
    });
  });
}

/** Returns the lines with a match, and up to `before` lines before and `after` lines after each of them. */
function near(lines: Line[], { before = Infinity, after = Infinity }: FileView): Line[] {
  let last = -Infinity;
  const ends = lines.map(({ marks, number }) => (last = marks ? number : last) + after);
  let next = Infinity;
  const starts = lines
    .toReversed()
    .map(({ marks, number }) => (next = marks ? number : next) - before)
    .toReversed();
  return lines.filter(({ number }, n) => number <= ends[n]! || number >= starts[n]!);
}

function showHeading(file: FileResult, { style, revisions }: FileView): string {
  const { text, matchRanges } = file.fileName;
  const marks = matchRanges
    .map(({ start, end }) => [start.column - 1, end.column - 1] as const)
    // leaves out the range of a path filter that covers the whole path
    .filter(([start, end]) => end - start < Array.from(text).length);
  const names =
    revisions && file.branches ? ` ${style.quiet(`(${file.branches.join(", ")})`)}` : "";
  const path = mark(style.foreign(text), marks, style, style.heading);
  const head = style.heading(`${file.repository}:`) + path + style.foreign(names);
  return file.commit ? `${head} ${style.quiet(style.foreign(summaryOf(file)))}` : head;
}

/** Returns the commit of a change as one line: its id, day, author and subject. */
function summaryOf({ fileName, commit }: FileResult): string {
  const { hash, date, authorName, message } = commit!;
  const subject = message.split("\n", 1)[0]!;
  const isCommit = fileName.text === hash; // its message is shown below
  return [hash.slice(0, 12), date.slice(0, 10), authorName, ...(isCommit ? [] : [subject])].join(
    " ",
  );
}

function showLine({ number, text, marks }: Line, style: Style): string {
  const separator = marks ? ":" : "-";
  return (
    style.line(String(number)) + separator + mark(style.foreign(text), marks ?? [], style, (s) => s)
  );
}

function mark(
  text: string,
  marks: readonly (readonly [number, number])[],
  style: Style,
  rest: Paint,
): string {
  const characters = Array.from(text);
  let shown = "";
  let from = 0;
  for (const [start, end] of marks) {
    shown += rest(characters.slice(from, start).join(""));
    shown += style.match(characters.slice(start, end).join(""));
    from = end;
  }
  return shown + rest(characters.slice(from).join(""));
}

function linesOf({ content, contentStart, matchRanges }: Chunk): Line[] {
  const texts = content.split("\n");
  if (texts.length > 1 && texts.at(-1) === "") texts.pop();
  const marks = new Map<number, [number, number][]>();
  for (const range of matchRanges) addMarks(range, marks);
  return texts.map((text, n) => {
    const number = contentStart.lineNumber + n;
    const before = n === 0 ? contentStart.column : 1;
    const own = marks.get(number)?.map(([start, end]) => [start - before, end - before] as const);
    return { number, text, marks: own };
  });
}

/** Adds the 1-based columns of the range to the marks of each line that the range touches. */
function addMarks({ start, end }: Range, marks: Map<number, [number, number][]>): void {
  for (let line = start.lineNumber; line <= end.lineNumber; line++) {
    const from = line === start.lineNumber ? start.column : 1;
    const to = line === end.lineNumber ? end.column : Infinity;
    const own = marks.get(line);
    if (own) own.push([from, to]);
    else marks.set(line, [[from, to]]);
  }
}
