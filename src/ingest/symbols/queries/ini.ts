import type { LanguageQuery } from "./shared/language.ts";
import { iniRewordings } from "./shared/newer-syntax.ts";

export const ini: LanguageQuery = {
  names: ["INI"],
  grammar: "@vscode/tree-sitter-wasm/wasm/tree-sitter-ini.wasm",
  revision: 2,
  maxBytes: 256 << 10,
  rewordings: iniRewordings,
  query: `
    (section (section_name (text) @table)) @scope
    (setting (setting_name) @key)
  `,
};
