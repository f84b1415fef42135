import type { LanguageQuery } from "../language.ts";

export const css: LanguageQuery = {
  names: ["CSS"],
  grammar: "@vscode/tree-sitter-wasm/wasm/tree-sitter-css.wasm",
  revision: 1,
  accept: [["variable", /^--/]],
  query: `
    (selectors (_) @selector)
    (keyframes_statement (keyframes_name) @other)
    (declaration (property_name) @variable)
  `,
};
