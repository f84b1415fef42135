import type { LanguageQuery } from "./shared/language.ts";
import { swiftRewordings } from "./shared/newer-syntax.ts";

export const swift: LanguageQuery = {
  names: ["Swift"],
  grammar: "tree-sitter-wasms/out/tree-sitter-swift.wasm",
  revision: 3,
  members: [
    ["function", "method"],
    ["variable", "property"],
    ["constant", "property"],
  ],
  rewordings: swiftRewordings,
  query: `
    (class_declaration "class" name: (type_identifier) @class) @scope
    (class_declaration "actor" name: (type_identifier) @class) @scope
    (class_declaration "struct" name: (type_identifier) @struct) @scope
    (class_declaration "enum" name: (type_identifier) @enum) @scope
    (class_declaration "extension" name: (user_type (type_identifier) @in.struct)) @scope
    (protocol_declaration name: (type_identifier) @protocol) @scope
    (typealias_declaration name: (type_identifier) @type)
    (associatedtype_declaration name: (type_identifier) @type)
    (enum_entry name: (simple_identifier) @enumMember)
    (init_declaration "init" @constructor) @scope
    (protocol_function_declaration name: (simple_identifier) @method)
    (protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @property))
    (function_declaration name: (simple_identifier) @function) @scope
    (function_declaration name: (custom_operator) @operator) @scope
    (function_declaration name: ["+" "-" "*" "/" "%" "==" "!=" "<" ">" "<=" ">=" "===" "!==" "+=" "-=" "*=" "/="] @operator) @scope
    (macro_declaration (simple_identifier) @macro)
    (subscript_declaration "subscript" @method) @scope
    (operator_declaration (custom_operator) @operator)
    (property_declaration (value_binding_pattern mutability: "let") name: (pattern bound_identifier: (simple_identifier) @constant))
    (property_declaration name: (pattern bound_identifier: (simple_identifier) @variable))
    (computed_property) @local
    (lambda_literal) @local
    (willset_didset_block) @local
    (ERROR "func" . (simple_identifier) @function)
  `,
};
