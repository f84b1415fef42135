/** Names as the alternatives of expressions. */

import { quote } from "../query/ast.ts";
import { escapeExpression } from "./scope.ts";

/** UTF-16 units: an expression may have 10 000. */
const MOST_UNITS = 8_000;

/** The names, literal and joined with `|`, in as few texts as the length of an expression allows. */
export function alternations(names: readonly string[]): string[] {
  const texts: string[] = [];
  for (const name of names.map(escapeExpression)) {
    const last = texts.at(-1);
    if (last === undefined || last.length + name.length >= MOST_UNITS) texts.push(name);
    else texts[texts.length - 1] = `${last}|${name}`;
  }
  return texts;
}

/** The files of these paths, in any repository. One expression of twenty takes a tenth of twenty. REQUIRES: a path. */
export const pathsFilter = (paths: readonly string[]): string =>
  `(${alternations(paths)
    .map((names) => `file:${quote(`^(?:${names})$`)}`)
    .join(" or ")})`;
