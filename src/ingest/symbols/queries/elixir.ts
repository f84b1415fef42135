import type { LanguageQuery } from "./shared/language.ts";

const DEFINERS = {
  def: "function",
  defp: "function",
  defdelegate: "function",
  defguard: "function",
  defguardp: "function",
  defmacro: "macro",
  defmacrop: "macro",
  defmodule: "module",
  defprotocol: "protocol",
  defimpl: "module",
  defstruct: "field",
  defexception: "field",
  type: "type",
  typep: "type",
  opaque: "type",
  callback: "function",
  macrocallback: "macro",
} as const;

export const elixir: LanguageQuery = {
  names: ["Elixir"],
  grammar: "@cursorless/tree-sitter-wasms/out/tree-sitter-elixir.wasm",
  revision: 1,
  members: [],
  keywords: DEFINERS,
  trim: ": ",
  // excludes attributes that describe a definition or the module, and so are no constants
  accept: [
    [
      "constant",
      /^(?!(moduledoc|doc|typedoc|spec|type|typep|opaque|callback|macrocallback|impl|behaviour|derive|enforce_keys|optional_callbacks|before_compile|after_compile|on_load|compile|dialyzer|external_resource|deprecated|tag|moduletag|describetag)$)/,
    ],
  ],
  query: `
    (call target: (identifier) @keyword (arguments (list (atom) @field)))
    (call target: (identifier) @keyword (arguments (list (keywords (pair key: (keyword) @field)))))
    (call target: (identifier) @keyword (arguments (keywords (pair key: (keyword) @field))))
    (unary_operator operator: "@" operand: (call target: (identifier) @constant (arguments)))
    (call target: (identifier) @keyword (arguments . (alias) @other)) @scope
    (call target: (identifier) @keyword (arguments . (identifier) @other)) @scope
    (call target: (identifier) @keyword (arguments . (call target: (identifier) @other))) @scope
    (call target: (identifier) @keyword (arguments . (binary_operator left: (call target: (identifier) @other) operator: "when"))) @scope
    (call target: (identifier) @keyword (arguments . (binary_operator left: (identifier) @other operator: "when"))) @scope
    (call target: (identifier) @keyword (arguments . (binary_operator operator: ["+" "-" "*" "/" "<>" "++" "--" "|>" "==" "<" ">" "<=" ">=" "&&" "||" "..." "<|>" "~>" "<~" "<<<" ">>>" "^^^" "+++" "---"] @other))) @scope
    (unary_operator operator: "@" operand: (call target: (identifier) @keyword (arguments (binary_operator left: (call target: (identifier) @other) operator: "::"))))
    (unary_operator operator: "@" operand: (call target: (identifier) @keyword (arguments (binary_operator left: (identifier) @other operator: "::"))))
  `,
};
