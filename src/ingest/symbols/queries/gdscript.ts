import type { LanguageQuery } from "./shared/language.ts";

export const gdscript: LanguageQuery = {
  names: ["GDScript"],
  grammar: "@cursorless/tree-sitter-wasms/out/tree-sitter-gdscript.wasm",
  revision: 1,
  members: [
    ["function", "method"],
    ["variable", "field"],
  ],
  query: `
    (class_name_statement (name) @class)
    (class_definition name: (name) @class) @scope
    (signal_statement (name) @event)
    (enum_definition name: (name) @enum) @scope
    (enumerator left: (identifier) @enumMember)
    (const_statement name: (name) @constant)
    (variable_statement name: (name) @variable)
    (constructor_definition "_init" @constructor) @scope
    (function_definition name: (name) @function) @scope
    (setget) @local
    (lambda) @local
  `,
};
