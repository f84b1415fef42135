/** Defines the part that the queries of JavaScript, TypeScript and TSX have in common. */

/** The kind of a name that is assigned to a prototype, as in `Queue.prototype.clear = function …`. */
export const ecmascriptKeywords = { prototype: "method" } as const;
export const ecmascriptReserved = { constructor: "constructor" } as const;

/**
 * Returns the common part of the queries. `name` is the type of node that the grammar has for the name of a class.
 */
export const ecmascript = (name: string) => `
  (function_declaration name: (identifier) @function) @scope
  (generator_function_declaration name: (identifier) @function) @scope
  (class_declaration name: (${name}) @class) @scope
  (class name: (${name}) @class) @scope

  (method_definition name: [(property_identifier) (private_property_identifier)] @method) @scope
  (method_definition name: (string (string_fragment) @method)) @scope
  (method_definition name: (computed_property_name) @method) @scope

  (variable_declarator name: (identifier) @function value: [(arrow_function) (function_expression) (generator_function)]) @scope
  (variable_declarator name: (identifier) @class value: (class)) @scope
  (lexical_declaration "const" (variable_declarator name: (identifier) @constant) @scope)
  (lexical_declaration "let" (variable_declarator name: (identifier) @variable) @scope)
  (variable_declaration (variable_declarator name: (identifier) @variable) @scope)
  (lexical_declaration "const" (variable_declarator name: (array_pattern (identifier) @constant)))
  (lexical_declaration "let" (variable_declarator name: (array_pattern (identifier) @variable)))
  (lexical_declaration "const" (variable_declarator name: (array_pattern (rest_pattern (identifier) @constant))))
  (lexical_declaration "const" (variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @constant)))
  (lexical_declaration "let" (variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @variable)))
  (variable_declaration (variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @variable)))
  (lexical_declaration "const" (variable_declarator name: (object_pattern (pair_pattern value: (identifier) @constant))))
  (variable_declaration (variable_declarator name: (object_pattern (pair_pattern value: (identifier) @variable))))

  (pair key: (property_identifier) @method value: [(arrow_function) (function_expression) (generator_function)]) @scope
  (pair key: (property_identifier) @property value: (object)) @scope

  (expression_statement (assignment_expression
    left: (member_expression object: (member_expression object: (identifier) @in.class property: (property_identifier) @keyword)
      property: (property_identifier) @method)
    right: [(function_expression) (arrow_function)]) @scope)
  (expression_statement (assignment_expression
    left: (member_expression property: (property_identifier) @function)
    right: [(function_expression) (arrow_function) (generator_function)]) @scope)
  (expression_statement (assignment_expression
    left: (member_expression property: (property_identifier) @class)
    right: (class)) @scope)

  (ERROR "class" . [(identifier) (${name})] @class)
  (ERROR "function" . (identifier) @function)

  (arrow_function body: (_) @local)
  (function_expression body: (_) @local)
  (class_static_block) @local
  (for_statement) @local
  (for_in_statement) @local
`;
