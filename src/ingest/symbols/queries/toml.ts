import type { LanguageQuery } from "./shared/language.ts";

export const toml: LanguageQuery = {
  names: ["TOML"],
  grammar: "tree-sitter-wasms/out/tree-sitter-toml.wasm",
  revision: 1,
  maxBytes: 256 << 10,
  trim: `"'`,
  query: `
    (table . [(bare_key) (dotted_key) (quoted_key)] @table) @scope
    (table_array_element . [(bare_key) (dotted_key) (quoted_key)] @table) @scope
    (pair . [(bare_key) (dotted_key) (quoted_key)] @key) @scope
  `,
};
