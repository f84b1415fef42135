import type { LanguageQuery } from "./shared/language.ts";

export const powershell: LanguageQuery = {
  names: ["PowerShell"],
  grammar: "@vscode/tree-sitter-wasm/wasm/tree-sitter-powershell.wasm",
  revision: 1,
  hasNamedConstructors: true,
  trim: "$",
  query: `
    (function_statement (function_name) @function) @scope
    (class_statement . (simple_name) @class) @scope
    (class_property_definition (variable) @property)
    (class_method_definition (simple_name) @method) @scope
    (enum_statement . (simple_name) @enum) @scope
    (enum_member (simple_name) @enumMember)
  `,
};
