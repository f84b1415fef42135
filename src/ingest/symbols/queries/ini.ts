import type { LanguageQuery } from "./shared/language.ts";

/**
 * Matches a key and the colon after it, as in `key: value` and `key:value`. If the line also has an `=`, a colon
 * without white space after it does not count, because the `=` may be the separator.
 */
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
