import type { LanguageQuery } from "./shared/language.ts";

const namespaceIn = (around: string) =>
  around.replace("$", "(namespace_declaration name: (_) @namespace) @scope");

/** Matches an empty collection such as `= []`, but not the brackets of a type. */
const EMPTY_COLLECTION = /((?:=>?|[(,]|[?:] |\breturn|\?\?) ?)\[\](?=\s{0,9}[;,)}])/g;

/** Matches the question mark of an assignment such as `a?.b = c`. */
const NULL_CONDITIONAL_TARGET =
  /\?(?=\.[A-Za-z_]\w{0,99}(?:\??\.[A-Za-z_]\w{0,99}|\[[^\]\n]{0,99}\]){0,9}\s{0,40}(?:[-+*/%&|^]|\?\?|<<|>>)?=[^=>])/g;

/**
 * Matches `operator +=` and `operator <<=`, which are reworded to `operator ==` and `operator >>>` because these have
 * the same length.
 */
const COMPOUND_OPERATOR = /\boperator\s{1,9}(?:checked\s{1,9})?(?:[-+*/%&|^]|<<|>>)=(?=\s{0,9}\()/g;
const comparison = (found: string) => found.replace(/(?:<<|>>)=$/, ">>>").replace(/\S=$/, "==");

/** Matches the head of an extension block, such as `extension<T>(IEnumerable<T> source) where T : class {`. */
const EXTENSION_BLOCK =
  /\bextension(\s{0,9}(?:<[^<>()]{0,200}>)?\s{0,9}\(\s{0,99}(?:(?:in|readonly|ref|scoped)\s{1,9}){0,3})([A-Za-z_][\w.]{0,199})(?![\w.])[^(){};]{0,300}\)[^(){};]{0,300}\{/g;

/**
 * Replaces the head of an extension block by `namespace IEnumerable {`. The query finds extension blocks as
 * namespaces inside a class, which valid code does not have. The name of a built-in type cannot be the name of a
 * namespace, so it is written in upper case.
 */
function namespaceOf(found: string, before: string, type: string): string {
  const name = type.replace(/^[a-z]+$/, (keyword) => keyword.toUpperCase());
  const head = `${"namespace".padEnd("extension".length + before.length)}${name}`;
  return `${head.padEnd(found.length - 1)}{`;
}

export const csharp: LanguageQuery = {
  names: ["C#"],
  grammar: "@vscode/tree-sitter-wasm/wasm/tree-sitter-c-sharp.wasm",
  revision: 2,
  rewordings: [
    { word: "ref readonly", newer: /\bref readonly\b/g, older: () => "ref" },
    { word: "params ", newer: /\bparams(?= [A-Z]\w{0,99}<)/g },
    { word: "allows ref struct", newer: /\ballows ref(?= struct\b)/g },
    { word: "[]", newer: EMPTY_COLLECTION, older: (_, before) => `${before}""` },
    { word: "?.", newer: NULL_CONDITIONAL_TARGET, older: (found) => ` ${found.slice(1)}` },
    { word: "operator", newer: COMPOUND_OPERATOR, older: comparison },
    { word: "extension", newer: EXTENSION_BLOCK, older: namespaceOf },
  ],
  query: `
    (class_declaration (declaration_list (namespace_declaration name: (_) @in.class) @scope))
    ${namespaceIn("(compilation_unit $)")}
    ${namespaceIn("(namespace_declaration (declaration_list $))")}
    ${namespaceIn("(preproc_if $)")}
    ${namespaceIn("(ERROR $)")}
    (compilation_unit (file_scoped_namespace_declaration name: (_) @namespace)) @scope
    (class_declaration name: (identifier) @class) @scope
    (struct_declaration name: (identifier) @struct) @scope
    (interface_declaration name: (identifier) @interface) @scope
    (enum_declaration name: (identifier) @enum) @scope
    (record_declaration name: (identifier) @record) @scope
    (record_declaration (parameter_list (parameter name: (identifier) @property)))
    (enum_member_declaration name: (identifier) @enumMember)
    (delegate_declaration name: (identifier) @type)
    (constructor_declaration name: (identifier) @constructor) @scope
    (destructor_declaration name: (identifier) @method) @scope
    (method_declaration name: (identifier) @method) @scope
    (local_function_statement name: (identifier) @function) @scope
    (property_declaration name: (identifier) @property) @scope
    (indexer_declaration "this" @property) @scope
    (event_declaration name: (identifier) @event)
    (event_field_declaration (variable_declaration (variable_declarator name: (identifier) @event)))
    (operator_declaration operator: _ @operator) @scope
    (conversion_operator_declaration type: (_) @operator) @scope
    (field_declaration (modifier "const") (variable_declaration (variable_declarator name: (identifier) @constant)))
    (field_declaration (variable_declaration (variable_declarator name: (identifier) @field)))
    (lambda_expression) @local
    (ERROR "class" . (identifier) @class)
    (ERROR "interface" . (identifier) @interface)
    (ERROR "struct" . (identifier) @struct)
  `,
};
