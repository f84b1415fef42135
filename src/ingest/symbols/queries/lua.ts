import type { LanguageQuery } from "./shared/language.ts";
import { luaRewordings } from "./shared/newer-syntax.ts";

export const lua: LanguageQuery = {
  names: ["Lua"],
  grammar: "@cursorless/tree-sitter-wasms/out/tree-sitter-lua.wasm",
  revision: 2,
  members: [],
  rewordings: luaRewordings,
  query: `
    (function_declaration name: (identifier) @function) @scope
    (function_declaration name: (dot_index_expression table: (identifier) @in.object field: (identifier) @function)) @scope
    (function_declaration name: (dot_index_expression table: (dot_index_expression field: (identifier) @in.object) field: (identifier) @function)) @scope
    (function_declaration name: (method_index_expression table: (identifier) @in.object method: (identifier) @method)) @scope
    (function_declaration name: (method_index_expression table: (dot_index_expression field: (identifier) @in.object) method: (identifier) @method)) @scope
    (function_declaration name: (method_index_expression method: (identifier) @method)) @scope
    (assignment_statement (variable_list name: (identifier) @function) (expression_list value: (function_definition))) @scope
    (assignment_statement (variable_list name: (dot_index_expression table: (identifier) @in.object field: (identifier) @function)) (expression_list value: (function_definition))) @scope
    (assignment_statement (variable_list name: (dot_index_expression table: (identifier) @in.object field: (identifier) @field)) (expression_list value: (table_constructor))) @scope
    (assignment_statement (variable_list name: (dot_index_expression table: (identifier) @in.object field: (identifier) @field)))
    (assignment_statement (variable_list name: (identifier) @variable) (expression_list value: (table_constructor))) @scope
    (assignment_statement (variable_list name: (identifier) @variable))
    (variable_declaration (variable_list name: (identifier) @variable))
    (field name: (identifier) @function value: (function_definition)) @scope
    (function_definition) @local
    (for_statement) @local
  `,
};
