import type { LanguageQuery } from "./shared/language.ts";
import { typescriptRewordings } from "./shared/newer-syntax.ts";
import { ecmascriptKeywords, ecmascriptReserved } from "./shared/ecmascript.ts";
import { typescriptQuery } from "./shared/typescript.ts";

export const typescript: LanguageQuery = {
  names: ["TypeScript"],
  grammar: "@vscode/tree-sitter-wasm/wasm/tree-sitter-typescript.wasm",
  revision: 2,
  keywords: ecmascriptKeywords,
  reserved: ecmascriptReserved,
  rewordings: typescriptRewordings,
  query: typescriptQuery,
};
