import type { LanguageQuery } from "./shared/language.ts";

const PACKAGE_ACCESS =
  /\bpackage(?= +(?:actor|class|enum|extension|final|func|import|indirect|init|let|macro|mutating|nonisolated|override|protocol|static|struct|subscript|typealias|var)\b)/g;

/** Matches modifiers such as `borrowing`, which come before the type of a parameter. */
const PARAMETER_MODIFIER =
  /\b(?:(?:__owned|borrowing|consuming|isolated|nonisolated|sending) {1,9}){1,3}(?=[A-Z@([a-z])/g;

/**
 * Matches the `#` of a call of a macro, such as `#expect(x)`. Does not match the `#` of directives that the grammar
 * knows, such as `#if`.
 */
const MACRO_SIGN =
  /#(?!(?:available|colorLiteral|column|dsohandle|else|elseif|endif|error|externalMacro|file\w*|function|if|imageLiteral|keyPath|line|selector|sourceLocation|unavailable|warning)\b)(?=[A-Za-z_]\w{0,99}\s{0,9}[(<{])/g;

export const swift: LanguageQuery = {
  names: ["Swift"],
  grammar: "tree-sitter-wasms/out/tree-sitter-swift.wasm",
  revision: 3,
  members: [
    ["function", "method"],
    ["variable", "property"],
    ["constant", "property"],
  ],
  rewordings: [
    { word: "~", newer: /~(?=[A-Z])(?<=[:,&]\s{0,40}~)/g },
    { word: "throws", newer: /\bthrows\s{0,9}\([^()\n]{1,200}\)/g, older: () => "throws" },
    { word: "nonisolated(", newer: /\bnonisolated\(\w{1,99}\)/g, older: () => "nonisolated" },
    { word: "package ", newer: PACKAGE_ACCESS, older: () => "public" },
    ...["__owned ", "borrowing ", "consuming ", "isolated ", "sending "].map((word) => ({
      word,
      newer: PARAMETER_MODIFIER,
    })),
    { word: "__consuming ", newer: /\b__consuming(?= )/g },
    { word: "unsafe ", newer: /(?<![@\w])unsafe (?=[A-Za-z_&.([])/g },
    { word: "consume ", newer: /\bconsume(?= \w)(?<=(?:[=(,] ?|\breturn )consume)/g },
    { word: ",\n", newer: /,(?=\s{1,200}\))/g },
    { word: " of ", newer: /\[\s{0,9}\w{1,99} of(?= )/g, older: () => "[" },
    {
      word: "InlineArray<",
      newer: /\bInlineArray<\d{1,20}(?=,)/g,
      older: (found) => found.replace(/\d/g, "N"),
    },
    { word: "<let ", newer: /<let(?= \w{1,99}: ?Int\b)/g, older: () => "<" },
    { word: "#", newer: MACRO_SIGN },
  ],
  query: `
    (class_declaration "class" name: (type_identifier) @class) @scope
    (class_declaration "actor" name: (type_identifier) @class) @scope
    (class_declaration "struct" name: (type_identifier) @struct) @scope
    (class_declaration "enum" name: (type_identifier) @enum) @scope
    (class_declaration "extension" name: (user_type (type_identifier) @in.struct)) @scope
    (protocol_declaration name: (type_identifier) @protocol) @scope
    (typealias_declaration name: (type_identifier) @type)
    (associatedtype_declaration name: (type_identifier) @type)
    (enum_entry name: (simple_identifier) @enumMember)
    (init_declaration "init" @constructor) @scope
    (protocol_function_declaration name: (simple_identifier) @method)
    (protocol_property_declaration name: (pattern bound_identifier: (simple_identifier) @property))
    (function_declaration name: (simple_identifier) @function) @scope
    (function_declaration name: (custom_operator) @operator) @scope
    (function_declaration name: ["+" "-" "*" "/" "%" "==" "!=" "<" ">" "<=" ">=" "===" "!==" "+=" "-=" "*=" "/="] @operator) @scope
    (macro_declaration (simple_identifier) @macro)
    (subscript_declaration "subscript" @method) @scope
    (operator_declaration (custom_operator) @operator)
    (property_declaration (value_binding_pattern mutability: "let") name: (pattern bound_identifier: (simple_identifier) @constant))
    (property_declaration name: (pattern bound_identifier: (simple_identifier) @variable))
    (computed_property) @local
    (lambda_literal) @local
    (willset_didset_block) @local
    (ERROR "func" . (simple_identifier) @function)
  `,
};
