/** What a definition can be. Stored by position in this list: append, never reorder. */
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
 * What a definition defines: the same words for all languages. docs/symbols.md has what counts as which.
 *
 * @example
 * const callable: readonly SymbolKind[] = ["function", "method", "constructor", "macro"];
 */
export type SymbolKind = (typeof SYMBOL_KINDS)[number];
