import type { LanguageQuery } from "./shared/language.ts";

export const php: LanguageQuery = {
  names: ["PHP"],
  grammar: "@vscode/tree-sitter-wasm/wasm/tree-sitter-php.wasm",
  revision: 2,
  reserved: { __construct: "constructor" },
  keywords: { define: "constant" },
  query: `
    (namespace_definition name: (namespace_name) @namespace body: (_)) @scope
    (program (namespace_definition name: (namespace_name) @namespace !body)) @scope
    (class_declaration name: (name) @class) @scope
    (interface_declaration name: (name) @interface) @scope
    (trait_declaration name: (name) @trait) @scope
    (enum_declaration name: (name) @enum) @scope
    (enum_case name: (name) @enumMember)
    (function_definition name: (name) @function) @scope
    (method_declaration name: (name) @method) @scope
    (function_call_expression function: (name) @keyword
      arguments: (arguments . (argument (string (string_content) @constant))))
    (const_declaration (const_element (name) @constant))
    (property_declaration (property_element (variable_name (name) @field)))
    (property_promotion_parameter name: (variable_name (name) @field))
    (anonymous_class) @anonymous
    (anonymous_function) @local
    (arrow_function) @local
    (program (expression_statement (assignment_expression left: (variable_name (name) @variable))) @scope)
    (ERROR "class" . (name) @class)
    (ERROR "function" . (name) @function)
  `,
};
