/** Finds the definitions of some files, with line, name, kind and nesting. */

import { firstIndex } from "../base/binary-search.ts";
import { quote } from "../query/ast.ts";
import type { FileResult, ResultSymbol } from "../search/messages/response.ts";
import type { Viewer } from "../search/messages/request.ts";
import { pathsFilter } from "./alternations.ts";
import { endOfBody, indentOf, TextLines, type Lines } from "./body.ts";
import { searchOptions } from "./scope.ts";
import type { ToolContext } from "./tool.ts";

export interface Definition {
  readonly line: number;
  readonly symbol: ResultSymbol;
  /** The indentation of its first line, in columns. */
  readonly indent: number;
  readonly text: string;
}

/** Names a file as answers do, and as models do when they ask. */
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

/** Resolves to the definitions of the files with these paths, by fileKey(). */
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

/** Splits a file when it is first asked for, because answers show only some of the files. */
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

/**
 * Returns the definitions in a result. REQUIRES: it was found by `sym:` alone, so each range is the name of
 * a definition.
 */
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

/** A definition whose text is cut from its file when it is asked for, because a file may have thousands. */
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

/**
 * Returns the innermost definition whose body has the line, by the indentation of code. Returns undefined
 * if there is none, or if the line is itself a definition.
 */
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
    if (outer === 1) return undefined; // whatever begins at the margin before it has ended too
  }
  return undefined;
}

/** Counts the definitions that begin in a line or before it. */
const placeBehind = (definitions: readonly Definition[], line: number): number =>
  firstIndex(0, definitions.length, (i) => definitions[i]!.line > line);

/** Kinds of which every file of a package has one. Whoever asks for a name wants the other definitions first. */
export const CLAUSES: ReadonlySet<string> = new Set(["package", "module", "namespace"]);

/** Splits a name as a model writes it: `add`, `Cart.add`, `Cart::add` or `Cart#add`. */
export function partsOfName(name: string): { symbol: string; parent: string | undefined } {
  const parts = name.split(/[.#:]+/).filter((part) => part !== "");
  return { symbol: parts.at(-1) ?? name, parent: parts.at(-2) };
}

/** Returns the name with its parent's, such as `Cart.add`, or `add` without a parent. */
export const fullName = ({ symbol, parent }: ResultSymbol): string =>
  parent ? `${parent.symbol}.${symbol}` : symbol;
