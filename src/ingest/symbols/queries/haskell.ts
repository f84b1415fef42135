import type { LanguageQuery } from "./shared/language.ts";

export const haskell: LanguageQuery = {
  names: ["Haskell"],
  grammar: "@cursorless/tree-sitter-wasms/out/tree-sitter-haskell.wasm",
  revision: 1,
  // the signature and all equations of a function are one symbol, and so are a type family and its instances
  once: ["function", "method", "operator", "constructor", "type"],
  query: `
    (header module: (module) @module)
    (class name: (name) @class) @scope
    (instance name: (name) @in.class) @scope
    (data_type name: (name) @type) @scope
    (newtype name: (name) @type) @scope
    (type_synomym name: (name) @type)
    (type_family name: (name) @type)
    (data_family name: (name) @type)
    (data_constructor (record name: (constructor) @constructor)) @scope
    (data_constructor (prefix name: (constructor) @constructor)) @scope
    (data_constructor (infix operator: (constructor_operator) @constructor))
    (newtype_constructor name: (constructor) @constructor) @scope
    (gadt_constructor name: (constructor) @constructor) @scope
    (field name: (field_name (variable) @field))
    (pattern_synonym (signature synonym: (constructor) @constructor))
    (pattern_synonym (equation synonym: (constructor) @constructor))
    (pattern_synonym (equation synonym: (apply function: (constructor) @constructor)))
    (signature name: (variable) @function)
    (signature names: (binding_list (variable) @function))
    (signature name: (prefix_id (operator) @operator))
    (local_binds (signature) @hidden)
    (function name: (variable) @function) @scope
    (function (infix operator: (operator) @operator)) @scope
    (function (infix operator: (infix_id (variable) @function))) @scope
    (declarations (bind name: (variable) @function) @scope)
    (instance_declarations (bind name: (variable) @function) @scope)
    (class_declarations (bind name: (variable) @function) @scope)
  `,
};
