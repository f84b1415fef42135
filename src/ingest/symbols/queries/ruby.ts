import type { LanguageQuery } from "./shared/language.ts";

export const ruby: LanguageQuery = {
  names: ["Ruby"],
  grammar: "@vscode/tree-sitter-wasm/wasm/tree-sitter-ruby.wasm",
  revision: 1,
  members: [["function", "method"]],
  reserved: { initialize: "constructor" },
  trim: ":",
  keywords: {
    attr_accessor: "property",
    attr_reader: "property",
    attr_writer: "property",
    define_method: "method",
    Struct: "class",
    Data: "class",
    Class: "class",
  },
  query: `
    (module name: (constant) @module) @scope
    (module name: (scope_resolution scope: (constant) @in.module name: (constant) @module)) @scope
    (module name: (scope_resolution name: (constant) @module)) @scope
    (class name: (constant) @class) @scope
    (class name: (scope_resolution scope: (constant) @in.module name: (constant) @class)) @scope
    (class name: (scope_resolution
      scope: (scope_resolution name: (constant) @in.module) name: (constant) @class)) @scope
    (class name: (scope_resolution name: (constant) @class)) @scope
    (method name: (_) @function) @scope
    (singleton_method name: (_) @method) @scope
    (call method: (identifier) @keyword arguments: (argument_list (simple_symbol) @other))
    (assignment left: (constant) @class right: (call receiver: (constant) @keyword)) @scope
    (assignment left: (constant) @constant)
    (assignment left: (global_variable) @variable)
    (alias name: (_) @method)
    (ERROR "class" . (constant) @class)
    (ERROR "module" . (constant) @module)
    (ERROR "def" . (identifier) @function)
  `,
};
