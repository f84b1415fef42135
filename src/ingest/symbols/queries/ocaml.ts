import type { LanguageQuery } from "./shared/language.ts";
import { ocamlFrame, ocamlRewordings } from "./shared/newer-syntax.ts";

export const ocaml: LanguageQuery = {
  names: ["OCaml"],
  grammar: "tree-sitter-wasms/out/tree-sitter-ocaml.wasm",
  revision: 2,
  members: [],
  trim: "() ",
  accept: [["variable", /[^_]/]],
  rewordings: ocamlRewordings,
  frame: ocamlFrame,
  query: `
    (exception_definition (constructor_declaration (constructor_name) @class))
    (module_definition (module_binding (module_name) @module)) @scope
    (module_type_definition (module_type_name) @interface) @scope
    (compilation_unit (value_definition (let_binding pattern: [(value_name) (parenthesized_operator)] @function (parameter)) @scope))
    (structure (value_definition (let_binding pattern: [(value_name) (parenthesized_operator)] @function (parameter)) @scope))
    (compilation_unit (value_definition (let_binding pattern: (value_name) @variable) @scope))
    (structure (value_definition (let_binding pattern: (value_name) @variable) @scope))
    (value_specification [(value_name) (parenthesized_operator)] @function)
    (external (value_name) @function)
    (type_definition (type_binding name: (type_constructor) @type) @scope)
    (constructor_declaration (constructor_name) @enumMember)
    (field_declaration (field_name) @field)
    (class_definition (class_binding name: (class_name) @class) @scope)
    (class_type_definition (class_type_binding name: (class_type_name) @interface) @scope)
    (method_definition name: (method_name) @method) @scope
    (method_specification (method_name) @method)
    (instance_variable_definition name: (instance_variable_name) @field)
  `,
};
