/** Joins names into regular expressions, as alternatives. */

import { quote } from "../query/ast.ts";
import { escapeExpression } from "./scope.ts";

/** The maximum length of a joined text, in UTF-16 units. A regular expression may have 10 000. */
const MOST_UNITS = 8_000;

/** Escapes the names and joins them with `|`. Returns more than one text only if a single text would be too long. */
export function alternations(names: readonly string[]): string[] {
  const texts: string[] = [];
  for (const name of names.map(escapeExpression)) {
    const last = texts.at(-1);
    if (last === undefined || last.length + name.length >= MOST_UNITS) texts.push(name);
    else texts[texts.length - 1] = `${last}|${name}`;
  }
  return texts;
}

/**
 * Returns a filter for all files that have one of these paths, in any repository. Paths are joined, because one
 * expression for twenty paths takes a tenth of the time of twenty expressions. REQUIRES: at least one path.
 */
export const pathsFilter = (paths: readonly string[]): string =>
  `(${alternations(paths)
    .map((names) => `file:${quote(`^(?:${names})$`)}`)
    .join(" or ")})`;
