import type { LanguageQuery } from "./shared/language.ts";
import { pythonRewordings } from "./shared/newer-syntax.ts";

export const python: LanguageQuery = {
  names: ["Python"],
  grammar: "@vscode/tree-sitter-wasm/wasm/tree-sitter-python.wasm",
  revision: 2,
  members: [
    ["function", "method"],
    ["variable", "field"],
  ],
  reserved: { __init__: "constructor" },
  rewordings: pythonRewordings,
  query: `
    (class_definition name: (identifier) @class) @scope
    (function_definition name: (identifier) @function) @scope
    (type_alias_statement left: (type (identifier) @type))
    (type_alias_statement left: (type (generic_type (identifier) @type)))
    (expression_statement (assignment left: (identifier) @function right: (lambda)) @scope)
    (expression_statement (assignment left: (identifier) @variable))
    (expression_statement (assignment left: (pattern_list (identifier) @variable)))
    (expression_statement (assignment left: (pattern_list (tuple_pattern (identifier) @variable))))
    (expression_statement (assignment left: (pattern_list (tuple_pattern (list_splat_pattern (identifier) @variable)))))
    (expression_statement (assignment left: (tuple_pattern (identifier) @variable)))
    (ERROR "class" . (identifier) @class)
    (ERROR "def" . (identifier) @function)
  `,
};
