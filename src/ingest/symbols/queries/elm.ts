import type { LanguageQuery } from "./shared/language.ts";

export const elm: LanguageQuery = {
  names: ["Elm"],
  grammar: "@cursorless/tree-sitter-wasms/out/tree-sitter-elm.wasm",
  revision: 1,
  members: [],
  query: `
    (module_declaration name: (upper_case_qid) @module)
    (type_alias_declaration name: (upper_case_identifier) @type) @scope
    (type_alias_declaration (type_expression (record_type (field_type name: (lower_case_identifier) @field))))
    (type_declaration name: (upper_case_identifier) @type) @scope
    (union_variant name: (upper_case_identifier) @enumMember) @scope
    (union_variant (record_type (field_type name: (lower_case_identifier) @field)))
    (port_annotation name: (lower_case_identifier) @function)
    (value_declaration functionDeclarationLeft: (function_declaration_left . (lower_case_identifier) @function . (_))) @scope
    (value_declaration functionDeclarationLeft: (function_declaration_left . (lower_case_identifier) @constant)) @scope
  `,
};
