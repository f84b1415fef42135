import type { LanguageQuery } from "./shared/language.ts";
import { rustRewordings } from "./shared/newer-syntax.ts";

/** Returns a pattern that matches an `impl` block. The type is the parent of all definitions in the block. */
const implementation = (type: string) => `(impl_item type: ${type}) @scope`;

export const rust: LanguageQuery = {
  names: ["Rust"],
  grammar: "@vscode/tree-sitter-wasm/wasm/tree-sitter-rust.wasm",
  revision: 2,
  rewordings: rustRewordings,
  query: `
    ${implementation("(type_identifier) @in.struct")}
    ${implementation("(primitive_type) @in.struct")}
    ${implementation("(generic_type type: (type_identifier) @in.struct)")}
    ${implementation("(scoped_type_identifier name: (type_identifier) @in.struct)")}
    ${implementation("(generic_type type: (scoped_type_identifier name: (type_identifier) @in.struct))")}
    ${implementation("(reference_type type: (type_identifier) @in.struct)")}
    ${implementation("(reference_type type: (generic_type type: (type_identifier) @in.struct))")}
    ${implementation("(dynamic_type trait: (type_identifier) @in.trait)")}
    (function_item name: (identifier) @function) @scope
    (function_signature_item name: (identifier) @function) @scope
    (struct_item name: (type_identifier) @struct) @scope
    (union_item name: (type_identifier) @union) @scope
    (enum_item name: (type_identifier) @enum) @scope
    (enum_variant name: (identifier) @enumMember) @scope
    (field_declaration name: (field_identifier) @field)
    (trait_item name: (type_identifier) @trait) @scope
    (associated_type name: (type_identifier) @type)
    (type_item name: (type_identifier) @type)
    (const_item name: (identifier) @constant)
    (static_item name: (identifier) @variable)
    (mod_item name: (identifier) @module body: (_)) @scope
    (macro_definition name: (identifier) @macro)
    (ERROR "fn" . (identifier) @function)
    (ERROR "struct" . [(identifier) (type_identifier)] @struct)
    (ERROR "trait" . [(identifier) (type_identifier)] @trait)
  `,
};
