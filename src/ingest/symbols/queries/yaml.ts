import type { LanguageQuery } from "./shared/language.ts";

export const yaml: LanguageQuery = {
  names: ["YAML"],
  grammar: "@cursorless/tree-sitter-wasms/out/tree-sitter-yaml.wasm",
  revision: 1,
  maxBytes: 256 << 10,
  trim: `"'`,
  query: `
    (block_mapping_pair key: (flow_node (plain_scalar) @key)) @scope
    (block_mapping_pair key: (flow_node [(double_quote_scalar) (single_quote_scalar)] @key)) @scope
    (flow_pair key: (flow_node (plain_scalar) @key)) @scope
  `,
};
