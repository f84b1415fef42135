import type { LanguageQuery } from "./shared/language.ts";
import { blank } from "./shared/rewording.ts";

/** Matches `context(log: Logger)` before a declaration. */
const CONTEXT =
  /^[ \t]{0,99}context\((?:[^(){}"]|\([^(){}"]{0,99}\)){0,400}\)(?=\s{1,99}(?:@|abstract|class|fun|inline|internal|open|operator|override|private|protected|public|suspend|va[lr])\b)/gm;

/** Matches the guard of a branch, such as ` if x > 3 ` in `is Int if x > 3 ->`. */
const GUARD = / if\b(?<=^[ \t]{0,99}(?:else|(?:is|in) [^\n{}]{1,99}) if)[^\n{}]{0,300}?(?=->)/gm;

/**
 * Matches `class A<T>` if `private constructor(` is on the next line. The grammar accepts both only on a single line.
 */
const CONSTRUCTOR_BELOW =
  /\bclass \w{1,99}[ \t]{0,9}(?:<[^{}()]{0,300}>)?[ \t]{0,9}\r?\n\s{0,99}(?:@\w{1,99}\s{1,99}){0,3}(?:(?:internal|private|protected|public)\s{1,99})?(?=constructor\()/g;

/**
 * Matches the space before the last brace in `interface A { fun run() }`. The grammar accepts such a declaration only
 * on three lines.
 */
const ONE_LINER =
  / (?=\}[ \t\r]{0,9}$)(?<=^[^\n{}]{0,99}\b(?:class|interface|object) [^\n{}]{1,300}\{ (?:[\w<>]{1,30} ){0,9}(?:fun|va[lr]) [^\n{}]{1,300} )/gm;

/**
 * Matches `class A(b: B) : B by b {`. The grammar reads `b {` as a call of `b`, with the body of the class as a
 * lambda. The expression has only one way to match up to the last `by`, so it does not backtrack there.
 */
const DELEGATION =
  /\b(?:class|object)\s{1,9}\w{1,99}\b(?:\s{0,9}<[^<>{}]{0,200}>)?[^(){}:=]{0,200}(?:\((?:[^(){}]|\([^(){}]{0,200}\)){0,2000}\)\s{0,9})?:(?=((?:(?!\b(?:class|fun|object|va[lr])\b)[^{}]){0,500}\bby\b))\1[^{}=\n]{0,200}(?=\{)/g;
const withoutDelegate = (found: string) => found.replace(/\bby\b[^,]*$/, "");

export const kotlin: LanguageQuery = {
  names: ["Kotlin"],
  grammar: "tree-sitter-wasms/out/tree-sitter-kotlin.wasm",
  revision: 3,
  members: [
    ["function", "method"],
    ["variable", "property"],
    ["constant", "property"],
  ],
  keywords: { const: "constant" },
  rewordings: [
    { word: "fun interface", newer: /\bfun(?= interface\b)/g },
    { word: "..<", newer: /\.\.</g, older: () => ".." },
    { word: '$"', newer: /\$(?:\$)?(?=")/g },
    { word: "context(", newer: CONTEXT, older: blank },
    { word: " if ", newer: GUARD },
    { word: "constructor(", newer: CONSTRUCTOR_BELOW, older: (found) => found.replace(/\s/g, " ") },
    { word: " }", newer: ONE_LINER, older: () => ";" },
    { word: " by ", newer: DELEGATION, older: withoutDelegate },
  ],
  query: `
    (package_header (identifier) @package)
    (class_declaration "interface" (type_identifier) @interface) @scope
    (class_declaration "enum" (type_identifier) @enum) @scope
    (class_declaration (type_identifier) @class) @scope
    (object_declaration (type_identifier) @object) @scope
    (companion_object (type_identifier) @object) @scope
    (companion_object "companion" @object "object" . [(class_body) (delegation_specifier)]) @scope
    (type_alias (type_identifier) @type)
    (enum_entry (simple_identifier) @enumMember) @scope
    (class_parameter (binding_pattern_kind) (simple_identifier) @property)
    (secondary_constructor "constructor" @constructor) @scope
    (function_declaration (user_type (type_identifier) @in.class) . (simple_identifier) @method) @scope
    (function_declaration (simple_identifier) @function) @scope
    (property_declaration (modifiers (property_modifier) @keyword) (variable_declaration (simple_identifier) @constant)) @scope
    (property_declaration (variable_declaration (simple_identifier) @variable)) @scope
    (property_declaration (multi_variable_declaration (variable_declaration (simple_identifier) @variable)))
    (lambda_literal) @local
    (anonymous_initializer) @local
    (object_literal) @anonymous
    (ERROR "fun" . (simple_identifier) @function)
  `,
};
