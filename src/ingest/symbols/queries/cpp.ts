import { cCuts } from "./shared/c-cuts.ts";
import type { LanguageQuery } from "./shared/language.ts";
import { cppRewordings } from "./shared/newer-syntax.ts";
import { C_FAMILY, NO_KEYWORD } from "./shared/c-family.ts";

const within = (inner: string) => `(qualified_identifier name: ${inner})`;

/**
 * Returns patterns that match `A::f` and `A::B::f`. The parent of `f` is the innermost scope, which is `A` or `B`.
 */
const qualified = (name: string) => {
  const one = (scope: string) => `(qualified_identifier scope: ${scope} name: ${name})`;
  const scopes = [
    "(namespace_identifier) @in.class",
    "(template_type name: (type_identifier) @in.class)",
  ];
  return scopes
    .map(one)
    .flatMap((inner) => [inner, within(inner), within(within(inner))])
    .map((declarator) => `(function_declarator declarator: ${declarator})`)
    .join("\n");
};

export const cpp: LanguageQuery = {
  names: ["C++", "Cuda"],
  grammar: "@vscode/tree-sitter-wasm/wasm/tree-sitter-cpp.wasm",
  revision: 4,
  accept: [NO_KEYWORD],
  members: [
    ["function", "method"],
    ["variable", "field"],
  ],
  hasNamedConstructors: true,
  cuts: cCuts,
  rewordings: cppRewordings,
  query: `
    (ERROR "namespace" . (namespace_identifier) @namespace)
    (ERROR "namespace" . (identifier) @namespace)
    (lambda_expression) @hidden
    (requires_expression) @hidden
    (template_parameter_list) @hidden
    (friend_declaration (declaration) @hidden)
    (namespace_definition name: (_) @namespace) @scope
    (namespace_alias_definition name: (namespace_identifier) @namespace)
    (class_specifier name: (type_identifier) @class body: (_)) @scope
    (class_specifier name: (template_type name: (type_identifier) @class) body: (_)) @scope
    (class_specifier name: (qualified_identifier name: (type_identifier) @class) body: (_)) @scope
    (struct_specifier name: (template_type name: (type_identifier) @struct) body: (_)) @scope
    (struct_specifier name: (qualified_identifier name: (type_identifier) @struct) body: (_)) @scope
    (concept_definition name: (identifier) @type)
    (alias_declaration name: (type_identifier) @type)
    (function_declarator declarator: (field_identifier) @method)
    (function_declarator declarator: (destructor_name) @method)
    (function_declarator declarator: (operator_name) @operator)
    (function_declarator declarator: (template_function name: (identifier) @function))
    (operator_cast "operator" @operator)
    ${qualified("[(identifier) (destructor_name)] @method")}
    ${qualified("(operator_name) @operator")}
    (reference_declarator (field_identifier) @field)
    (reference_declarator (identifier) @variable)
    ${C_FAMILY}
  `,
};
