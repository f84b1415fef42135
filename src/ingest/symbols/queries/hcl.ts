import type { LanguageQuery } from "./shared/language.ts";

export const hcl: LanguageQuery = {
  names: ["HCL"],
  grammar: "@cursorless/tree-sitter-wasms/out/tree-sitter-hcl.wasm",
  revision: 1,
  // the types of blocks in Terraform that define something; a block of any other type describes the block around it
  keywords: {
    resource: "object",
    data: "object",
    ephemeral: "object",
    variable: "variable",
    locals: "variable",
    output: "variable",
    module: "module",
    provider: "other",
    check: "other",
  },
  query: `
    (block (identifier) @keyword . (string_lit) . (string_lit (template_literal) @other) . (block_start)) @scope
    (block (identifier) @keyword . (string_lit (template_literal) @other) . (block_start)) @scope
    (block (identifier) @keyword . (block_start) . (body (attribute . (identifier) @variable)))
    (config_file (body (attribute . (identifier) @key)))
  `,
};
