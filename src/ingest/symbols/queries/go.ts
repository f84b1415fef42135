import { goCuts } from "./shared/go-cuts.ts";
import type { LanguageQuery } from "./shared/language.ts";

const receiver = (type: string) => `
  (method_declaration
    receiver: (parameter_list (parameter_declaration type: ${type}))
    name: (field_identifier) @method)
`;

export const go: LanguageQuery = {
  names: ["Go"],
  grammar: "@vscode/tree-sitter-wasm/wasm/tree-sitter-go.wasm",
  revision: 1,
  accept: [
    ["variable", /[^_]/],
    ["constant", /[^_]/],
  ],
  cuts: goCuts,
  query: `
    (block) @hidden
    (package_clause (package_identifier) @package)
    (function_declaration name: (identifier) @function)
    ${receiver("(type_identifier) @in.struct")}
    ${receiver("(pointer_type (type_identifier) @in.struct)")}
    ${receiver("(generic_type type: (type_identifier) @in.struct)")}
    ${receiver("(pointer_type (generic_type type: (type_identifier) @in.struct))")}
    (type_spec name: (type_identifier) @struct type: (struct_type)) @scope
    (type_spec name: (type_identifier) @interface type: (interface_type)) @scope
    (type_spec name: (type_identifier) @type) @scope
    (type_alias name: (type_identifier) @type) @scope
    (field_declaration name: (field_identifier) @field) @scope
    (method_elem name: (field_identifier) @method)
    (const_spec name: (identifier) @constant)
    (var_spec name: (identifier) @variable)
    (ERROR "func" . (identifier) @function)
  `,
};
