import type { LanguageQuery } from "./shared/language.ts";
import { cssRewordings } from "./shared/newer-syntax.ts";

export const css: LanguageQuery = {
  names: ["CSS"],
  grammar: "@vscode/tree-sitter-wasm/wasm/tree-sitter-css.wasm",
  revision: 2,
  accept: [["variable", /^--/]],
  rewordings: cssRewordings,
  keywords: {
    "@property": "variable",
    "@function": "function",
    "@counter-style": "other",
    "@font-palette-values": "other",
    "@position-try": "other",
  },
  query: `
    (selectors (_) @selector)
    (at_rule (at_keyword) @keyword . (keyword_query) @other)
    (keyframes_statement (keyframes_name) @other)
    (declaration (property_name) @variable)
  `,
};
