import type { LanguageQuery } from "./shared/language.ts";

const type = (node: string, kind: string) =>
  `(variable_declaration . (identifier) @${kind} (${node})) @scope`;

/** Matches `struct {}`, which is reworded to `struct{_}`, because the grammar requires a field. */
const EMPTY_CONTAINER =
  /\b(?:enum|opaque|struct|union)(?:\([^()\n]{0,99}\))?(?: \{\s{0,99}|\{\s{1,99})\}/g;

export const zig: LanguageQuery = {
  names: ["Zig"],
  grammar: "tree-sitter-wasms/out/tree-sitter-zig.wasm",
  revision: 2,
  accept: [
    ["enumMember", /[^_]/],
    ["field", /[^_]/],
  ],
  rewordings: [{ word: "{", newer: EMPTY_CONTAINER, older: (found) => `${found.slice(0, -3)}{_}` }],
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
