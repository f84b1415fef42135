import type { LanguageQuery } from "./shared/language.ts";
import { csharpRewordings } from "./shared/newer-syntax.ts";

const namespaceIn = (around: string) =>
  around.replace("$", "(namespace_declaration name: (_) @namespace) @scope");

export const csharp: LanguageQuery = {
  names: ["C#"],
  grammar: "@vscode/tree-sitter-wasm/wasm/tree-sitter-c-sharp.wasm",
  revision: 2,
  rewordings: csharpRewordings,
  query: `
    (class_declaration (declaration_list (namespace_declaration name: (_) @in.class) @scope))
    ${namespaceIn("(compilation_unit $)")}
    ${namespaceIn("(namespace_declaration (declaration_list $))")}
    ${namespaceIn("(preproc_if $)")}
    ${namespaceIn("(ERROR $)")}
    (compilation_unit (file_scoped_namespace_declaration name: (_) @namespace)) @scope
    (class_declaration name: (identifier) @class) @scope
    (struct_declaration name: (identifier) @struct) @scope
    (interface_declaration name: (identifier) @interface) @scope
    (enum_declaration name: (identifier) @enum) @scope
    (record_declaration name: (identifier) @record) @scope
    (record_declaration (parameter_list (parameter name: (identifier) @property)))
    (enum_member_declaration name: (identifier) @enumMember)
    (delegate_declaration name: (identifier) @type)
    (constructor_declaration name: (identifier) @constructor) @scope
    (destructor_declaration name: (identifier) @method) @scope
    (method_declaration name: (identifier) @method) @scope
    (local_function_statement name: (identifier) @function) @scope
    (property_declaration name: (identifier) @property) @scope
    (indexer_declaration "this" @property) @scope
    (event_declaration name: (identifier) @event)
    (event_field_declaration (variable_declaration (variable_declarator name: (identifier) @event)))
    (operator_declaration operator: _ @operator) @scope
    (conversion_operator_declaration type: (_) @operator) @scope
    (field_declaration (modifier "const") (variable_declaration (variable_declarator name: (identifier) @constant)))
    (field_declaration (variable_declaration (variable_declarator name: (identifier) @field)))
    (lambda_expression) @local
    (ERROR "class" . (identifier) @class)
    (ERROR "interface" . (identifier) @interface)
    (ERROR "struct" . (identifier) @struct)
  `,
};
