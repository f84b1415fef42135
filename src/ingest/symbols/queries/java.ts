import type { LanguageQuery } from "./shared/language.ts";
import { javaRewordings } from "./shared/newer-syntax.ts";

export const java: LanguageQuery = {
  names: ["Java"],
  grammar: "@vscode/tree-sitter-wasm/wasm/tree-sitter-java.wasm",
  revision: 3,
  rewordings: javaRewordings,
  query: `
    (package_declaration [(identifier) (scoped_identifier)] @package)
    (module_declaration name: (_) @module)
    (class_declaration name: (identifier) @class) @scope
    (interface_declaration name: (identifier) @interface) @scope
    (enum_declaration name: (identifier) @enum) @scope
    (record_declaration name: (identifier) @record) @scope
    (record_declaration parameters: (formal_parameters (formal_parameter name: (identifier) @field)))
    (annotation_type_declaration name: (identifier) @interface) @scope
    (enum_constant name: (identifier) @enumMember) @scope
    (constructor_declaration name: (identifier) @constructor) @scope
    (compact_constructor_declaration name: (identifier) @constructor) @scope
    (method_declaration name: (identifier) @method) @scope
    (annotation_type_element_declaration name: (identifier) @method)
    (constant_declaration declarator: (variable_declarator name: (identifier) @constant))
    (field_declaration (modifiers "static" "final") declarator: (variable_declarator name: (identifier) @constant)) @scope
    (field_declaration declarator: (variable_declarator name: (identifier) @field)) @scope
    (object_creation_expression (class_body)) @anonymous
    (class_body (block) @local)
    (lambda_expression) @local
    (static_initializer) @local
    (ERROR "class" . (identifier) @class)
    (ERROR "interface" . (identifier) @interface)
    (ERROR "enum" . (identifier) @enum)
  `,
};
