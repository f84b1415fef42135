import { cCuts } from "./shared/c-cuts.ts";
import type { LanguageQuery } from "./shared/language.ts";
import { objectiveCRewordings } from "./shared/newer-syntax.ts";
import { C_FAMILY, NO_KEYWORD } from "./shared/c-family.ts";

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

export const objectiveC: LanguageQuery = {
  names: ["Objective-C"],
  grammar: "tree-sitter-wasms/out/tree-sitter-objc.wasm",
  revision: 3,
  accept: [NO_KEYWORD],
  cuts: cCuts,
  rewordings: objectiveCRewordings,
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
