/** The definitions of some files, with what is told of them: line, name, kind, nesting. */

import { quote } from "../query/ast.ts";
import type { FileResult, ResultSymbol } from "../search/messages/response.ts";
import type { Viewer } from "../search/messages/request.ts";
import { pathsFilter } from "./alternations.ts";
import { searchOptions } from "./scope.ts";
import type { ToolContext } from "./tool.ts";

export interface Definition {
  readonly line: number;
  readonly symbol: ResultSymbol;
  /** Of the line it begins in: columns of blanks. */
  readonly indent: number;
  readonly text: string;
}

/** As a file is named to a model, and by it. */
export const fileKey = ({
  repository,
  fileName,
}: Pick<FileResult, "repository" | "fileName">): string => `${repository}:${fileName.text}`;

const MOST = 20_000;

/** The definitions of a file, in its order, and its text. */
export interface FileDefinitions {
  readonly definitions: readonly Definition[];
  readonly lines: Lines;
}

/** Lines of a text by their place, as arrays have them. */
type Lines = Pick<readonly string[], "length" | "at">;

/** The lines of a large file of which a few are asked for: most of the time of an answer was spent on cutting. */
export class TextLines implements Lines {
  readonly #text: string;
  readonly #ends: number[] = [];

  constructor(text: string) {
    this.#text = text;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", end + 1))
      this.#ends.push(end);
    this.#ends.push(text.length);
  }

  get length(): number {
    return this.#ends.length;
  }

  /** REQUIRES: 0 or more. */
  at(place: number): string | undefined {
    const end = this.#ends[place];
    const begin = place === 0 ? 0 : this.#ends[place - 1]! + 1;
    return end === undefined ? undefined : this.#text.slice(begin, end);
  }
}

/** By fileKey(). */
export async function definitionsOf(
  paths: readonly string[],
  {
    viewer,
    revision,
  }: { readonly viewer: Viewer | undefined; readonly revision: string | undefined },
  context: ToolContext,
): Promise<Map<string, FileDefinitions>> {
  if (paths.length === 0) return new Map();
  const named = revision ? ` rev:${quote(revision)}` : "";
  const query = `sym:.* ${pathsFilter(paths)}${named}`;
  const { files: found } = await context.engine.search(
    { query, matches: MOST, whole: true },
    searchOptions(context, viewer),
  );
  return new Map(found.map((file) => [fileKey(file), onceAsked(file)]));
}

/** Answers tell of some of the files only: the others are not cut into lines. */
function onceAsked(file: FileResult): FileDefinitions {
  let definitions: readonly Definition[] | undefined;
  let lines: Lines | undefined;
  return {
    get definitions() {
      return (definitions ??= definitionsIn(file));
    },
    get lines() {
      return (lines ??= new TextLines(file.content ?? ""));
    },
  };
}

/** REQUIRES: found by `sym:` alone: each range is the name of a definition. */
export function definitionsIn({ chunks }: FileResult): Definition[] {
  const found: Definition[] = [];
  for (const { content, contentStart, matchRanges, symbols = [] } of chunks) {
    const lines = new TextLines(content);
    for (const [i, { start }] of matchRanges.entries()) {
      const symbol = symbols[i];
      const place = start.lineNumber - contentStart.lineNumber;
      if (symbol) found.push(new FoundDefinition(symbol, start.lineNumber, { lines, place }));
    }
  }
  return found;
}

/** Of thousands in a file the text of a few is asked for. */
class FoundDefinition implements Definition {
  readonly line: number;
  readonly symbol: ResultSymbol;
  readonly #from: { readonly lines: Lines; readonly place: number };

  constructor(
    symbol: ResultSymbol,
    line: number,
    from: { readonly lines: Lines; readonly place: number },
  ) {
    this.line = line;
    this.symbol = symbol;
    this.#from = from;
  }

  get text(): string {
    return this.#from.lines.at(this.#from.place) ?? "";
  }

  get indent(): number {
    return indentOf(this.text);
  }
}

const TAB_COLUMNS = 4;

/** Asked of each line of a body: without an expression it takes a fifth of the time. */
export function indentOf(line: string): number {
  let columns = 0;
  for (let i = 0; i < line.length; i++) {
    const unit = line.charCodeAt(i);
    if (unit === TAB) columns += TAB_COLUMNS;
    else if (unit === BLANK || (unit > ASCII && /\s/.test(line[i]!)) || isOtherBlank(unit))
      columns++;
    else break;
  }
  return columns;
}

const [TAB, BLANK, ASCII] = [0x09, 0x20, 0x7f];
const isOtherBlank = (unit: number): boolean => unit > TAB && unit < 0x0e;

/** The innermost definition that a line stands in, by the indentation of code; undefined: none, or it is one. */
export function enclosing(
  { definitions, lines }: FileDefinitions,
  line: number,
  indent: number,
): Definition | undefined {
  let outer = indent;
  for (let i = placeBehind(definitions, line) - 1; i >= 0; i--) {
    const definition = definitions[i]!;
    if (definition.line === line) return undefined;
    if (definition.indent >= outer) continue;
    if (endOfBody(lines, definition.line) >= line) return definition;
    outer = definition.indent + 1;
    if (outer === 1) return undefined; // what stands at the margin before it has ended too
  }
  return undefined;
}

/** How many definitions begin in a line or before it. */
function placeBehind(definitions: readonly Definition[], line: number): number {
  let [from, to] = [0, definitions.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (definitions[middle]!.line <= line) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** `Cart.add`, or `add`. */
export const fullName = ({ symbol, parent }: ResultSymbol): string =>
  parent ? `${parent.symbol}.${symbol}` : symbol;

const isEmpty = (line: string): boolean => !/\S/.test(line);

/**
 * The last line of a definition's body, by the indentation of code: what is indented deeper, and the line that
 * closes it.
 */
export function endOfBody(lines: Lines, begin: number): number {
  const indent = indentOf(lines.at(begin - 1) ?? "");
  let end = begin;
  for (let line = begin + 1; line <= lines.length; line++) {
    const text = lines.at(line - 1)!;
    if (isEmpty(text)) continue;
    if (indentOf(text) > indent) {
      end = line;
      continue;
    }
    const opens = line === begin + 1 && /^\s*[{(]/.test(text);
    if (opens || /^\s*(\)|\]|\}|end\b)/.test(text)) end = line;
    if (opens || /[({[]\s*$/.test(text)) continue;
    break;
  }
  return end;
}
