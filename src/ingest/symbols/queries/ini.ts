import type { LanguageQuery } from "./shared/language.ts";

/** Matches the separator of `key: value` and `key:value`. If the line also has an `=`, that may be the separator. */
const COLON = /^[ \t]{0,99}[^\s=:;#[][^=:\n]{0,200}:(?!\/\/)(?=\s|[^=\n]{0,999}$)/gm;

export const ini: LanguageQuery = {
  names: ["INI"],
  grammar: "@vscode/tree-sitter-wasm/wasm/tree-sitter-ini.wasm",
  revision: 2,
  maxBytes: 256 << 10,
  rewordings: [{ word: ":", newer: COLON, older: (found) => `${found.slice(0, -1)}=` }],
  query: `
    (section (section_name (text) @table)) @scope
    (setting (setting_name) @key)
  `,
};
