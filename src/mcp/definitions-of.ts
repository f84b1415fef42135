/** Finds the definitions of some files, with line, name, kind and parent. */

import { newPause, type Pause } from "../base/yield.ts";
import { quote } from "../query/ast.ts";
import type { FileResult, ResultSymbol } from "../search/messages/response.ts";
import type { Viewer } from "../search/messages/request.ts";
import { pathsFilter } from "./alternations.ts";
import { searchOptions } from "./scope.ts";
import type { ToolContext } from "./tool.ts";

export interface Definition {
  readonly line: number;
  readonly symbol: ResultSymbol;
  readonly text: string;
}

/** Names a file as answers and models do. */
export const fileKey = ({
  repository,
  fileName,
}: Pick<FileResult, "repository" | "fileName">): string => `${repository}:${fileName.text}`;

const MOST = 20_000;

/** Resolves to the definitions of the files with these paths, by fileKey(). */
export async function definitionsOf(
  paths: readonly string[],
  {
    viewer,
    revision,
  }: { readonly viewer: Viewer | undefined; readonly revision: string | undefined },
  context: ToolContext,
): Promise<Map<string, Definition[]>> {
  if (paths.length === 0) return new Map();
  const named = revision ? ` rev:${quote(revision)}` : "";
  const query = `sym:.* ${pathsFilter(paths)}${named}`;
  const { files: found } = await context.engine.search(
    { query, matches: MOST },
    searchOptions(context, viewer),
  );
  const pause = newPause({ signal: context.signal });
  const byFile = new Map<string, Definition[]>();
  for (const file of found) byFile.set(fileKey(file), await definitionsIn(file, pause));
  return byFile;
}

/** How many definitions are read between two pauses. */
export const STEP = 1_000;

/**
 * Resolves to the definitions in a result. REQUIRES: only `sym:` filters found it, so that each range is the name of a
 * definition.
 */
export async function definitionsIn({ chunks }: FileResult, pause: Pause): Promise<Definition[]> {
  const found: Definition[] = [];
  for (const { content, contentStart, matchRanges, symbols = [] } of chunks) {
    const lines = content.split("\n");
    for (const [i, { start }] of matchRanges.entries()) {
      const symbol = symbols[i];
      const { lineNumber: line } = start;
      const text = lines[line - contentStart.lineNumber] ?? "";
      if (symbol) found.push({ line, symbol, text });
      if (i % STEP === 0) await pause();
    }
  }
  return found;
}

/** Kinds that occur in every file of a package. Somebody who asks for a name wants definitions of other kinds first. */
export const CLAUSES: ReadonlySet<string> = new Set(["package", "module", "namespace"]);

/** Splits a name as models write it: `add`, `Cart.add`, `Cart::add` or `Cart#add`. */
export function partsOfName(name: string): { symbol: string; parent: string | undefined } {
  const parts = name.split(/[.#:]+/).filter((part) => part !== "");
  return { symbol: parts.at(-1) ?? name, parent: parts.at(-2) };
}

/** Returns the name with its parent's, such as `Cart.add`, or `add` without a parent. */
export const fullName = ({ symbol, parent }: ResultSymbol): string =>
  parent ? `${parent.symbol}.${symbol}` : symbol;
