import type { LanguageQuery } from "./shared/language.ts";

export const solidity: LanguageQuery = {
  names: ["Solidity"],
  grammar: "@repomix/tree-sitter-wasms/out/tree-sitter-solidity.wasm",
  revision: 1,
  query: `
    (contract_declaration name: (identifier) @class) @scope
    (interface_declaration name: (identifier) @interface) @scope
    (library_declaration name: (identifier) @module) @scope
    (struct_declaration name: (identifier) @struct) @scope
    (struct_member name: (identifier) @field)
    (enum_declaration name: (identifier) @enum) @scope
    (enum_value) @enumMember
    (event_definition name: (identifier) @event)
    (error_declaration name: (identifier) @type)
    (user_defined_type_definition name: (identifier) @type)
    (function_definition name: (identifier) @function) @scope
    (modifier_definition name: (identifier) @method) @scope
    (constructor_definition "constructor" @constructor) @scope
    (fallback_receive_definition ["fallback" "receive"] @method) @scope
    (state_variable_declaration name: (identifier) @field)
    (constant_variable_declaration name: (identifier) @constant)
  `,
};
