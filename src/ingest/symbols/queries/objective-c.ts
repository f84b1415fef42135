import { cCuts } from "./shared/c-cuts.ts";
import type { LanguageQuery } from "./shared/language.ts";
import { blank, type Rewording } from "./shared/rewording.ts";
import { C_FAMILY, C_FAMILY_REWORDINGS, NO_KEYWORD } from "./shared/c-family.ts";

/**
 * Returns patterns that match methods. The name of a method is the first part of its selector, such as `drawAtPoint`
 * in `- (void)drawAtPoint:(CGPoint)point scale:(CGFloat)scale`.
 */
const methods = (node: string, extent: string) => `
  (${node} . (method_type) . (identifier) @method) ${extent}
  (${node} . (identifier) @method) ${extent}
`;

const declared = (node: string, kind: string) => `
  (${node} (struct_declaration (struct_declarator (identifier) @${kind})))
  (${node} (struct_declaration (struct_declarator (pointer_declarator declarator: (identifier) @${kind}))))
`;

/** Replaces `typedef NS_ENUM(NSInteger, Kind) {` and similar macros by `enum Kind {`. */
const enumMacro = (word: string): Rewording => ({
  word,
  newer:
    /(?:\btypedef\s{1,9})?\b(?:CF|NS)_(?:CLOSED_ENUM|ENUM|ERROR_ENUM|OPTIONS)\s{0,9}\([^(){},]{0,200}(?:,\s{0,9}(\w{1,99})\s{0,9})?\)(?=\s{0,99}\{)/g,
  older: (found, name) => `${"enum".padEnd(name ? found.lastIndexOf(name) : 0)}${name}`,
});

/**
 * Matches macros that annotate the code before them. Also matches the head of a #define, so that a macro's name in it
 * is kept.
 */
const ANNOTATION =
  /#\s{0,9}define\s{1,9}\w{1,99}|\b(?:NS_(?:ASSUME_NONNULL|AVAILABLE|CLASS_(?:AVAILABLE|DEPRECATED)|DEPRECATED|DESIGNATED_INITIALIZER|ENUM_(?:AVAILABLE|DEPRECATED)|EXTENSION_UNAVAILABLE|FORMAT_FUNCTION|NOESCAPE|REFINED_FOR_SWIFT|REQUIRES_(?:NIL_TERMINATION|SUPER)|RETURNS_\w{1,40}|STRING_ENUM|EXTENSIBLE_STRING_ENUM|SWIFT_|TYPED_(?:EXTENSIBLE_)?ENUM|UNAVAILABLE)\w{0,60}|API_(?:AVAILABLE|DEPRECATED|UNAVAILABLE)\w{0,40}|UI_APPEARANCE_SELECTOR|DEPRECATED_(?:ATTRIBUTE|MSG_ATTRIBUTE))\b(?:\((?:[^()]|\((?:[^()]|\([^()]{0,99}\)){0,200}\)){0,300}\))?/g;

export const objectiveC: LanguageQuery = {
  names: ["Objective-C"],
  grammar: "tree-sitter-wasms/out/tree-sitter-objc.wasm",
  revision: 3,
  accept: [NO_KEYWORD],
  cuts: cCuts,
  rewordings: [
    ...C_FAMILY_REWORDINGS,
    enumMacro("_ENUM("),
    enumMacro("_OPTIONS("),
    ...["NS_", "API_", "UI_", "DEPRECATED_"].map((word) => ({
      word,
      newer: ANNOTATION,
      older: (found: string) => (found.startsWith("#") ? found : blank(found)),
    })),
  ],
  query: `
    (method_definition (compound_statement) @hidden)
    (class_interface . (identifier) @in.class category: (_)) @scope
    (class_interface . (identifier) @class !category) @scope
    (class_implementation . (identifier) @in.class category: (_)) @scope
    (class_implementation . (identifier) @class !category) @scope
    (protocol_declaration . (identifier) @protocol) @scope
    ${methods("method_declaration", "")}
    ${methods("method_definition", "@scope")}
    ${declared("property_declaration", "property")}
    ${declared("instance_variable", "field")}
    ${C_FAMILY}
  `,
};
