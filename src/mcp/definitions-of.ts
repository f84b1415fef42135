/** The definitions of some files, with what is told of them: line, name, kind, nesting. */

import { quote } from "../query/ast.ts";
import type { FileResult, ResultSymbol } from "../search/messages/response.ts";
import type { Viewer } from "../search/messages/request.ts";
import { escapeExpression, searchOptions } from "./scope.ts";
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
  readonly lines: readonly string[];
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
  const files = paths.map((path) => `file:${quote(`^${escapeExpression(path)}$`)}`).join(" or ");
  const named = revision ? ` rev:${quote(revision)}` : "";
  const query = `sym:.* (${files})${named}`;
  const { files: found } = await context.engine.search(
    { query, matches: MOST, whole: true },
    searchOptions(context, viewer),
  );
  return new Map(
    found.map((file) => [
      fileKey(file),
      { definitions: definitionsIn(file), lines: (file.content ?? "").split("\n") },
    ]),
  );
}

/** REQUIRES: found by `sym:` alone: each range is the name of a definition. */
export function definitionsIn({ chunks }: FileResult): Definition[] {
  return chunks.flatMap(({ content, contentStart, matchRanges, symbols = [] }) => {
    const lines = content.split("\n");
    return matchRanges.flatMap(({ start }, i) => {
      const text = lines[start.lineNumber - contentStart.lineNumber] ?? "";
      const symbol = symbols[i];
      return symbol ? [{ line: start.lineNumber, symbol, indent: indentOf(text), text }] : [];
    });
  });
}

export const indentOf = (line: string): number =>
  /^\s*/.exec(line)![0].replaceAll("\t", "    ").length;

/** The innermost definition that a line stands in, by the indentation of code; undefined: none, or it is one. */
export function enclosing(
  { definitions, lines }: FileDefinitions,
  line: number,
  indent: number,
): Definition | undefined {
  let outer = indent;
  for (const definition of definitions.toReversed()) {
    if (definition.line > line) continue;
    if (definition.line === line) return undefined;
    if (definition.indent >= outer) continue;
    if (endOfBody(lines, definition.line) >= line) return definition;
    outer = definition.indent + 1;
    if (outer === 1) return undefined; // what stands at the margin before it has ended too
  }
  return undefined;
}

/** `Cart.add`, or `add`. */
export const fullName = ({ symbol, parent }: ResultSymbol): string =>
  parent ? `${parent.symbol}.${symbol}` : symbol;

/**
 * The last line of a definition's body, by the indentation of code: what is indented deeper, and the line that
 * closes it.
 */
export function endOfBody(lines: readonly string[], begin: number): number {
  const indent = indentOf(lines[begin - 1] ?? "");
  let end = begin;
  for (let line = begin + 1; line <= lines.length; line++) {
    const text = lines[line - 1]!;
    if (text.trim() === "") continue;
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
