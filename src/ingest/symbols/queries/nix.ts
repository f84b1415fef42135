import type { LanguageQuery } from "./shared/language.ts";

export const nix: LanguageQuery = {
  names: ["Nix"],
  grammar: "@cursorless/tree-sitter-wasms/out/tree-sitter-nix.wasm",
  revision: 1,
  members: [],
  trim: '"',
  query: `
    (binding attrpath: (attrpath (_) @function .) expression: (function_expression)) @scope
    (let_expression (binding_set (binding attrpath: (attrpath (_) @variable .)) @scope))
    (attrset_expression (binding_set (binding attrpath: (attrpath (_) @property .)) @scope))
    (rec_attrset_expression (binding_set (binding attrpath: (attrpath (_) @property .)) @scope))
  `,
};
