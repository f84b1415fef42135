/** Finds the definitions in files. Also splits and formats the names of symbols. */

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

/** Returns the name of a file in the form that answers and models use. */
export const fileKey = ({
  repository,
  fileName,
}: Pick<FileResult, "repository" | "fileName">): string => `${repository}:${fileName.text}`;

const MOST = 20_000;

/** Resolves to the definitions in all files that have one of these paths. The keys of the map come from fileKey(). */
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
 * Resolves to the definitions in a result. REQUIRES: only `sym:` filters matched, so that each range is the name of a
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

/**
 * The kinds of definitions that every file of a package may contain. Somebody who looks for a name wants definitions
 * of other kinds first.
 */
export const CLAUSES: ReadonlySet<string> = new Set(["package", "module", "namespace"]);

/**
 * Splits a name into the symbol and its parent. Language models write a name as `add`, `Cart.add`, `Cart::add` or
 * `Cart#add`.
 */
export function partsOfName(name: string): { symbol: string; parent: string | undefined } {
  const parts = name.split(/[.#:]+/).filter((part) => part !== "");
  return { symbol: parts.at(-1) ?? name, parent: parts.at(-2) };
}

/** Returns the name of a symbol with the name of its parent, such as `Cart.add`. Without a parent, returns `add`. */
export const fullName = ({ symbol, parent }: ResultSymbol): string =>
  parent ? `${parent.symbol}.${symbol}` : symbol;
