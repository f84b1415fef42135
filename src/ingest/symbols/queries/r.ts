import type { LanguageQuery } from "./shared/language.ts";

export const r: LanguageQuery = {
  names: ["R"],
  grammar: "@cursorless/tree-sitter-wasms/out/tree-sitter-r.wasm",
  revision: 1,
  trim: "`\"'",
  // a variable may be assigned several times, but is one symbol
  once: ["variable"],
  // the functions that define a class, a generic function or a method, and the lists of methods in a class
  keywords: {
    R6Class: "class",
    setClass: "class",
    setRefClass: "class",
    setGeneric: "function",
    setMethod: "method",
    public: "method",
    private: "method",
    active: "method",
    methods: "method",
  },
  query: `
    (program (binary_operator lhs: (identifier) @class rhs: (call function: [(identifier) @keyword (namespace_operator rhs: (identifier) @keyword)])) @scope)
    (program (call function: (identifier) @keyword arguments: (arguments . (argument value: (string) @other))) @scope)
    (argument name: (identifier) @keyword value: (call arguments: (arguments (argument name: (identifier) @method value: (function_definition)) @scope)))
    (binary_operator lhs: [(identifier) (string)] @function operator: ["<-" "<<-" "=" ":="] rhs: (function_definition)) @scope
    (program (binary_operator lhs: [(identifier) (string)] @variable operator: ["<-" "<<-" "=" ":="]))
    (program (binary_operator operator: ["->" "->>"] rhs: [(identifier) (string)] @variable))
    (function_definition) @local
  `,
};
