import type { LanguageQuery } from "./shared/language.ts";
import { zigRewordings } from "./shared/newer-syntax.ts";

const type = (node: string, kind: string) =>
  `(variable_declaration . (identifier) @${kind} (${node})) @scope`;

export const zig: LanguageQuery = {
  names: ["Zig"],
  grammar: "tree-sitter-wasms/out/tree-sitter-zig.wasm",
  revision: 2,
  accept: [
    ["enumMember", /[^_]/],
    ["field", /[^_]/],
  ],
  rewordings: zigRewordings,
  query: `
    ${type("struct_declaration", "struct")}
    ${type("opaque_declaration", "struct")}
    ${type("union_declaration", "union")}
    ${type("enum_declaration", "enum")}
    ${type("error_set_declaration", "enum")}
    (error_set_declaration (identifier) @enumMember)
    (enum_declaration (container_field name: (identifier) @enumMember))
    (struct_declaration (container_field name: (identifier) @field))
    (union_declaration (container_field name: (identifier) @field))
    (function_declaration name: (identifier) @function) @scope
    (variable_declaration "const" . (identifier) @constant)
    (variable_declaration "var" . (identifier) @variable)
    (test_declaration) @local
    (comptime_declaration) @local
  `,
};
