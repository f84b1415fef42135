import type { LanguageQuery } from "../language.ts";
import { ecmascriptKeywords, ecmascriptReserved } from "./shared/ecmascript.ts";
import { typescriptQuery } from "./shared/typescript.ts";

export const tsx: LanguageQuery = {
  names: ["TSX"],
  grammar: "@vscode/tree-sitter-wasm/wasm/tree-sitter-tsx.wasm",
  revision: 1,
  keywords: ecmascriptKeywords,
  reserved: ecmascriptReserved,
  query: typescriptQuery,
};
