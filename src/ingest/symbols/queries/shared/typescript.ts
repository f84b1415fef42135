import { ecmascript } from "./ecmascript.ts";

/** The query of TypeScript and of TSX, whose grammars have the same types of nodes. */
export const typescriptQuery = `
  ${ecmascript("type_identifier")}
  (abstract_class_declaration name: (type_identifier) @class) @scope
  (interface_declaration name: (type_identifier) @interface) @scope
  (enum_declaration name: (identifier) @enum) @scope
  (enum_body [name: (property_identifier) @enumMember (enum_assignment name: (property_identifier) @enumMember)])
  (enum_body (string (string_fragment) @enumMember))
  (enum_assignment name: (string (string_fragment) @enumMember))
  (type_alias_declaration name: (type_identifier) @type) @scope
  (internal_module name: (identifier) @namespace) @scope
  (internal_module name: (nested_identifier) @namespace) @scope
  (module name: (identifier) @namespace) @scope
  (module name: (string (string_fragment) @module)) @scope
  (function_signature name: (identifier) @function) @scope
  (ERROR "interface" . [(identifier) (type_identifier)] @interface)
  (ERROR "enum" . [(identifier) (type_identifier)] @enum)
  (ERROR (method_signature name: (property_identifier) @method))
  (abstract_method_signature name: [(property_identifier) (private_property_identifier)] @method)
  (class_body (method_signature name: (property_identifier) @method))
  (interface_body (method_signature name: (property_identifier) @method))
  (interface_body (property_signature name: (property_identifier) @property))
  (public_field_definition name: [(property_identifier) (private_property_identifier)] @method value: [(arrow_function) (function_expression)]) @scope
  (public_field_definition name: [(property_identifier) (private_property_identifier)] @field)
  (required_parameter (accessibility_modifier) pattern: (identifier) @field)
  (required_parameter "readonly" pattern: (identifier) @field)
`;
