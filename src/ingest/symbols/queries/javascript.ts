import type { LanguageQuery } from "./shared/language.ts";
import { javascriptRewordings } from "./shared/newer-syntax.ts";
import { ecmascript, ecmascriptKeywords, ecmascriptReserved } from "./shared/ecmascript.ts";

export const javascript: LanguageQuery = {
  names: ["JavaScript"],
  grammar: "@vscode/tree-sitter-wasm/wasm/tree-sitter-javascript.wasm",
  revision: 2,
  keywords: ecmascriptKeywords,
  reserved: ecmascriptReserved,
  rewordings: javascriptRewordings,
  query: `
    ${ecmascript("identifier")}
    (field_definition property: [(property_identifier) (private_property_identifier)] @method value: [(arrow_function) (function_expression)]) @scope
    (field_definition property: [(property_identifier) (private_property_identifier)] @field)
  `,
};
