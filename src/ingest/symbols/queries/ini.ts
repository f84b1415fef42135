import type { LanguageQuery } from "../language.ts";

export const ini: LanguageQuery = {
  names: ["INI"],
  grammar: "@vscode/tree-sitter-wasm/wasm/tree-sitter-ini.wasm",
  revision: 1,
  maxBytes: 256 << 10,
  query: `
    (section (section_name (text) @table)) @scope
    (setting (setting_name) @key)
  `,
};
