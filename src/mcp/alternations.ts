/** Joins names as the alternatives of expressions. */

import { quote } from "../query/ast.ts";
import { escapeExpression } from "./scope.ts";

/** The maximum number of UTF-16 units of a text. An expression may have 10 000. */
const MOST_UNITS = 8_000;

/** Joins escaped names with `|` into as few texts as the length limit of an expression allows. */
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
 * Returns the filter for the files of these paths, in any repository. One expression for twenty paths takes
 * a tenth of the time of twenty expressions. REQUIRES: at least one path.
 */
export const pathsFilter = (paths: readonly string[]): string =>
  `(${alternations(paths)
    .map((names) => `file:${quote(`^(?:${names})$`)}`)
    .join(" or ")})`;
