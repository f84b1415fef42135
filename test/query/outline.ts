/** The form of a query in one line, for tables. It shows the tree itself, unlike the canonical text. */

import { QuernError } from "../../src/base/errors.ts";
import { isConstant, type Atom, type Query } from "../../src/query/ast.ts";
import { parseQuery, type Dialect } from "../../src/query/parse.ts";

export function outline(query: Query): string {
  if (query.kind === "and" || query.kind === "or")
    return `(${query.kind} ${query.children.map(outline).join(" ")})`;
  if (query.kind === "not") return `(not ${outline(query.child)})`;
  return isConstant(query) ? query.kind : outlineAtom(query);
}

function outlineAtom(atom: Atom): string {
  switch (atom.kind) {
    case "literal":
      return `lit:${atom.text}`;
    case "regex":
      return `${atom.field === "content" ? "re" : atom.field}:${atom.pattern}`;
    case "language":
      return `lang:${atom.name}`;
    case "revision":
      return `rev:${atom.value}`;
    case "reposet":
      return `reposet:${atom.names.join("+")}`;
    case "context":
      return `context:${atom.name}`;
    case "archived":
    case "fork":
    case "visibility":
      return `${atom.kind}:${atom.value}`;
    case "history":
      return `${atom.filter.name}:${atom.filter.value}`;
  }
}

/** Returns the outline, or the error's code and position. Throws errors that are not a QuernError. */
export function outcome(text: string, dialect: Dialect): string {
  try {
    return outline(parseQuery(text, dialect));
  } catch (error) {
    if (!(error instanceof QuernError)) throw error;
    return `${error.code} ${error.position}`;
  }
}
