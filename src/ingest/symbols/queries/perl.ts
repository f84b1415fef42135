import type { LanguageQuery } from "./shared/language.ts";

export const perl: LanguageQuery = {
  names: ["Perl"],
  grammar: "@cursorless/tree-sitter-wasms/out/tree-sitter-perl.wasm",
  revision: 2,
  trim: "$@%",
  // only variables that are declared with `our` are symbols; a variable declared with `my` is visible only in its
  // block or file
  keywords: { our: "variable" },
  query: `
    (package_statement (package_name) @package body: (block)) @scope
    (package_statement (package_name) @package)
    (function_definition name: (identifier) @function body: (block)) @scope
    (use_constant_statement constant: (identifier) @constant)
    (use_constant_statement value: (hash_ref (call_expression_with_args_with_brackets (call_expression_with_bareword function_name: (identifier) @constant)) . (fat_comma)))
    (variable_declaration (scope) @keyword variable_name: [(scalar_variable) (array_variable) (hash_variable)] @variable)
    (variable_declaration (scope) @keyword (array [(scalar_variable) (array_variable) (hash_variable)] @variable))
    (ERROR "sub" . (identifier) @function)
    (anonymous_function) @local
    [(special_block) (standalone_block) (if_statement) (unless_statement) (while_statement) (for_statement_1) (for_statement_2)] @local
  `,
};
