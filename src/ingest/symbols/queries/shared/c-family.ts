/**
 * Defines the part that the queries of C, C++ and Objective-C have in common. A pattern finds a name by the innermost
 * declarator around it, whatever pointers and arrays enclose this declarator. Parts of the code that contain no
 * definitions are captured as @hidden. Patterns that lead from a declaration down to the name would find the same
 * names, but compiling such patterns would take seconds.
 */

/**
 * Excludes variables whose name is a keyword. The grammar takes a keyword for a name if an unknown macro comes before
 * it, as in `static noinstr struct lock *f(void)`.
 */
export const NO_KEYWORD = [
  "variable",
  /^(?!(?:auto|bool|char|class|const|double|enum|extern|float|inline|int|long|register|short|signed|static|struct|typedef|typename|union|unsigned|void|volatile)$)/,
] as const;

const named = (node: string, kind: string) => `
  (pointer_declarator declarator: (${node}) @${kind})
  (array_declarator declarator: (${node}) @${kind})
`;

export const C_FAMILY = `
  (parameter_list) @hidden
  (function_definition body: (compound_statement) @hidden)
  (function_definition (declaration) @hidden)
  (declaration (storage_class_specifier "extern")) @hidden
  (declaration) @declared

  (function_declarator declarator: (identifier) @function)

  (preproc_def name: (identifier) @macro)
  (preproc_function_def name: (identifier) @macro)

  (struct_specifier name: (type_identifier) @struct body: (_)) @scope
  (union_specifier name: (type_identifier) @union body: (_)) @scope
  (enum_specifier name: (type_identifier) @enum body: (_)) @scope
  (enumerator name: (identifier) @enumMember)
  (type_definition type: (struct_specifier !name body: (_)) declarator: (type_identifier) @struct) @scope
  (type_definition type: (union_specifier !name body: (_)) declarator: (type_identifier) @union) @scope
  (type_definition type: (enum_specifier !name body: (_)) declarator: (type_identifier) @enum) @scope
  (type_definition declarator: (type_identifier) @type)
  (function_declarator declarator: (type_identifier) @type)
  ${named("type_identifier", "type")}

  (field_declaration declarator: (field_identifier) @field)
  ${named("field_identifier", "field")}

  (declaration declarator: (identifier) @variable)
  (init_declarator declarator: (identifier) @variable)
  ${named("identifier", "variable")}
`;
