import type { LanguageQuery } from "./shared/language.ts";

export const rescript: LanguageQuery = {
  names: ["ReScript"],
  grammar: "tree-sitter-wasms/out/tree-sitter-rescript.wasm",
  revision: 1,
  members: [],
  query: `
    (module_declaration "type" (module_binding name: (module_identifier) @interface) @scope)
    (module_binding name: (module_identifier) @module) @scope
    (exception_declaration (variant_identifier) @class)
    (type_binding name: (type_identifier) @type) @scope
    (variant_declaration (variant_identifier) @enumMember) @scope
    (record_type_field (property_identifier) @field)
    (external_declaration (value_identifier) @function)
    (let_binding pattern: (value_identifier) @function body: (function)) @scope
    (let_binding pattern: (value_identifier) @variable) @scope
    (function) @local
  `,
};
