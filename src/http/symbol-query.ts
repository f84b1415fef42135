/**
 * Translates requests for definitions and references into searches. The query for definitions is `sym:^name$`. The
 * query for references is the name between word boundaries. The name is plain text, so it is escaped twice, first for
 * the regular expression, and then for the quotes around the expression.
 */

import { quote } from "../query/ast.ts";

/**
 * Groups of languages that can call each other's code. If a request asks for one of the `names`, all `members` are
 * searched.
 */
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
  // \b needs a word character, so it is left out next to other characters
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

/**
 * Escapes a text for RE2. Escapes ASCII punctuation, and also control characters, because a query cannot contain
 * them.
 */
function escapeExpression(text: string): string {
  return text
    .replace(/[!-/:-@[-^`{-~]/g, "\\$&")
    .replace(/\p{Cc}/gu, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`);
}
