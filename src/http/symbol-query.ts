/**
 * Definitions and references as searches: a definition is `sym:^name$`, a reference is the name
 * between word boundaries. The name is plain text, so it is escaped twice: for the expression, and
 * for the quotes it stands in.
 */

import { quote } from "../query/ast.ts";

/** Languages whose code calls each other, by the names and aliases that mean one of them. */
const FAMILIES: readonly { names: readonly string[]; members: readonly string[] }[] = [
  {
    names: ["typescript", "ts", "tsx", "javascript", "js", "jsx", "mjs", "cjs", "mts", "cts"],
    members: ["TypeScript", "TSX", "JavaScript"],
  },
  { names: ["c", "c++", "cpp", "cc", "h", "hpp"], members: ["C", "C++"] },
];

export interface SymbolSearch {
  readonly symbolName: string;
  readonly language?: string | undefined;
  readonly revision?: string | undefined;
}

export function definitionsQuery(search: SymbolSearch): string {
  const name = escapeExpression(search.symbolName);
  return [`sym:${quote(`^${name}$`)}`, ...filters(search)].join(" ");
}

export function referencesQuery(search: SymbolSearch): string {
  const { symbolName } = search;
  // \b stands between a word character and another one: no boundary where the name has none
  const from = /^\w/.test(symbolName) ? "\\b" : "";
  const to = /\w$/.test(symbolName) ? "\\b" : "";
  return [`content:${quote(from + escapeExpression(symbolName) + to)}`, ...filters(search)].join(
    " ",
  );
}

function filters({ language, revision }: SymbolSearch): string[] {
  return [
    ...(language === undefined || language === "" ? [] : [languageFilter(language)]),
    ...(revision === undefined ? [] : [`rev:${quote(revision)}`]),
  ];
}

function languageFilter(language: string): string {
  const family = FAMILIES.find(({ names }) => names.includes(language.toLowerCase()));
  const members = family?.members ?? [language];
  return `(${members.map((name) => `lang:${quote(name)}`).join(" or ")})`;
}

/** For RE2: control characters, which cannot stand raw in a query, and ASCII that is no word character. */
function escapeExpression(text: string): string {
  return text
    .replace(/[!-/:-@[-^`{-~]/g, "\\$&")
    .replace(/\p{Cc}/gu, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`);
}
