import type { LanguageQuery } from "./shared/language.ts";

export const markdown: LanguageQuery = {
  names: ["Markdown"],
  grammar: "@cursorless/tree-sitter-wasms/out/tree-sitter-markdown.wasm",
  revision: 1,
  trim: " \t\r\n",
  query: `
    (section . (atx_heading heading_content: (inline) @heading)) @scope
    (section . (setext_heading heading_content: (paragraph) @heading)) @scope
    (atx_heading heading_content: (inline) @heading)
    (setext_heading heading_content: (paragraph) @heading)
  `,
};
