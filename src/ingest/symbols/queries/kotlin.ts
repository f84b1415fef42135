import type { LanguageQuery } from "./shared/language.ts";
import { kotlinRewordings } from "./shared/newer-syntax.ts";

export const kotlin: LanguageQuery = {
  names: ["Kotlin"],
  grammar: "tree-sitter-wasms/out/tree-sitter-kotlin.wasm",
  revision: 3,
  members: [
    ["function", "method"],
    ["variable", "property"],
    ["constant", "property"],
  ],
  keywords: { const: "constant" },
  rewordings: kotlinRewordings,
  query: `
    (package_header (identifier) @package)
    (class_declaration "interface" (type_identifier) @interface) @scope
    (class_declaration "enum" (type_identifier) @enum) @scope
    (class_declaration (type_identifier) @class) @scope
    (object_declaration (type_identifier) @object) @scope
    (companion_object (type_identifier) @object) @scope
    (companion_object "companion" @object "object" . [(class_body) (delegation_specifier)]) @scope
    (type_alias (type_identifier) @type)
    (enum_entry (simple_identifier) @enumMember) @scope
    (class_parameter (binding_pattern_kind) (simple_identifier) @property)
    (secondary_constructor "constructor" @constructor) @scope
    (function_declaration (user_type (type_identifier) @in.class) . (simple_identifier) @method) @scope
    (function_declaration (simple_identifier) @function) @scope
    (property_declaration (modifiers (property_modifier) @keyword) (variable_declaration (simple_identifier) @constant)) @scope
    (property_declaration (variable_declaration (simple_identifier) @variable)) @scope
    (property_declaration (multi_variable_declaration (variable_declaration (simple_identifier) @variable)))
    (lambda_literal) @local
    (anonymous_initializer) @local
    (object_literal) @anonymous
    (ERROR "fun" . (simple_identifier) @function)
  `,
};
