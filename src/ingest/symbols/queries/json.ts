import type { LanguageQuery } from "./shared/language.ts";

export const json: LanguageQuery = {
  names: ["JSON", "JSON with Comments"],
  grammar: "@cursorless/tree-sitter-wasms/out/tree-sitter-json.wasm",
  revision: 1,
  maxBytes: 256 << 10,
  trim: '"',
  query: `
    (pair key: (string) @key) @scope
  `,
};
