/** The kinds of definitions. They are stored by their position in this list: append to it, never reorder it. */
export const SYMBOL_KINDS = [
  "function",
  "method",
  "constructor",
  "class",
  "interface",
  "struct",
  "union",
  "enum",
  "enumMember",
  "trait",
  "protocol",
  "object",
  "record",
  "type",
  "field",
  "property",
  "variable",
  "constant",
  "module",
  "namespace",
  "package",
  "macro",
  "event",
  "operator",
  "key",
  "selector",
  "heading",
  "table",
  "other",
] as const;

/**
 * The kinds of members, which rank lower: someone who types `page` wants the type before the many fields of
 * that name. The kernel has the same set in assembly/definitions.ts.
 */
export const MEMBER_KINDS: ReadonlySet<number> = new Set(
  (["constructor", "field", "property"] as const).map((kind) => SYMBOL_KINDS.indexOf(kind)),
);

/**
 * The kind of a definition, with the same words for all languages. docs/symbols.md says what counts as which.
 *
 * @example
 * const callable: readonly SymbolKind[] = ["function", "method", "constructor", "macro"];
 */
export type SymbolKind = (typeof SYMBOL_KINDS)[number];
