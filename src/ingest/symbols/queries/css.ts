import type { LanguageQuery } from "./shared/language.ts";

/** Matches an `@import` that has conditions after its address, such as `layer(base) supports(display: grid)`. */
const IMPORT_CONDITION =
  /(@import\s{1,9}(?:url\([^()\n]{0,300}\)|"[^"\n]{0,300}"|'[^'\n]{0,300}')\s{0,9})(?:layer|supports)\b[^{};]{0,300}(?=;)/g;

export const css: LanguageQuery = {
  names: ["CSS"],
  grammar: "@vscode/tree-sitter-wasm/wasm/tree-sitter-css.wasm",
  revision: 2,
  accept: [["variable", /^--/]],
  rewordings: [
    { word: "@import", newer: IMPORT_CONDITION, older: (_, address) => address },
    { word: "@container", newer: /@container\b[^{};"']{0,600}(?=\{)/g, older: () => "@media all" },
    {
      word: "@media",
      newer: /@media\b[^{};"'<>]{0,300}[<>][^{};"']{0,300}(?=\{)/g,
      older: () => "@media all",
    },
    {
      word: "@function",
      newer: /(@function\s{1,9}--[\w-]{1,99})\([^{};]{0,400}(?=\{)/g,
      older: (_, name) => name,
    },
  ],
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
