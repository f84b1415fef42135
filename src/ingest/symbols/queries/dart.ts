import type { LanguageQuery } from "./shared/language.ts";

export const dart: LanguageQuery = {
  names: ["Dart"],
  grammar: "tree-sitter-wasms/out/tree-sitter-dart.wasm",
  revision: 1,
  members: [
    ["function", "method"],
    ["variable", "field"],
  ],
  query: `
    (function_body) @hidden
    (library_name (dotted_identifier_list) @package)
    (class_definition name: (identifier) @class) @scope
    (mixin_declaration (identifier) @class) @scope
    (extension_declaration class: (type_identifier) @in.class) @scope
    (extension_declaration name: (identifier) @class)
    (extension_type_declaration name: (identifier) @class) @scope
    (representation_declaration name: (identifier) @field)
    (enum_declaration name: (identifier) @enum) @scope
    (enum_constant name: (identifier) @enumMember)
    (type_alias . (type_identifier) @type)
    (function_signature name: (identifier) @function)
    (getter_signature name: (identifier) @property)
    (setter_signature name: (identifier) @property)
    (operator_signature (binary_operator) @operator)
    (constructor_signature (identifier) @constructor . (formal_parameter_list))
    (constant_constructor_signature (identifier) @constructor . (formal_parameter_list))
    (factory_constructor_signature (identifier) @constructor . (formal_parameter_list))
    (static_final_declaration . (identifier) @constant)
    (initialized_identifier . (identifier) @variable)
  `,
};
