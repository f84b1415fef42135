import type { LanguageQuery } from "./shared/language.ts";

export const javaProperties: LanguageQuery = {
  names: ["Java Properties"],
  grammar: "@cursorless/tree-sitter-wasms/out/tree-sitter-properties.wasm",
  revision: 1,
  maxBytes: 256 << 10,
  query: `
    (property (key) @key)
  `,
};
