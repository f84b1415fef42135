import type { LanguageQuery } from "./shared/language.ts";
import { scalaRewordings } from "./shared/newer-syntax.ts";

export const scala: LanguageQuery = {
  names: ["Scala"],
  grammar: "@cursorless/tree-sitter-wasms/out/tree-sitter-scala.wasm",
  revision: 3,
  members: [
    ["function", "method"],
    ["variable", "field"],
    ["constant", "field"],
  ],
  reserved: { this: "constructor" },
  rewordings: scalaRewordings,
  query: `
    (package_clause name: (package_identifier) @package)
    (package_object name: (identifier) @object) @scope
    (class_definition name: (identifier) @class) @scope
    (trait_definition name: (identifier) @trait) @scope
    (object_definition name: (identifier) @object) @scope
    (enum_definition name: (identifier) @enum) @scope
    (simple_enum_case name: (identifier) @enumMember)
    (full_enum_case name: (identifier) @enumMember)
    (type_definition name: (type_identifier) @type)
    (class_parameter name: (identifier) @field)
    (function_definition name: [(identifier) (operator_identifier)] @function) @scope
    (function_declaration name: [(identifier) (operator_identifier)] @function) @scope
    (val_definition pattern: (identifier) @constant) @scope
    (val_declaration name: (identifier) @constant)
    (var_definition pattern: (identifier) @variable) @scope
    (var_declaration name: (identifier) @variable)
    (given_definition name: (identifier) @object) @scope
    (extension_definition parameters: (parameters (parameter type: (type_identifier) @in.class))) @scope
    (extension_definition parameters: (parameters (parameter type: (generic_type type: (type_identifier) @in.class)))) @scope
    (instance_expression (template_body)) @anonymous
    (val_definition value: [(block) (indented_block)] @local)
    (var_definition value: [(block) (indented_block)] @local)
    (lambda_expression) @local
  `,
};
