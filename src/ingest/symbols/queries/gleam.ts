import type { LanguageQuery } from "./shared/language.ts";

export const gleam: LanguageQuery = {
  names: ["Gleam"],
  grammar: "@cursorless/tree-sitter-wasms/out/tree-sitter-gleam.wasm",
  revision: 1,
  query: `
    (type_definition (type_name name: (type_identifier) @type)) @scope
    (data_constructor name: (constructor_name) @enumMember) @scope
    (data_constructor_argument label: (label) @field)
    (type_alias (type_name name: (type_identifier) @type))
    (constant name: (identifier) @constant)
    (function name: (identifier) @function) @scope
  `,
};
