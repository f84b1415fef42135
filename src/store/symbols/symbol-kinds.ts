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
 * What has its name only inside of something else: who types `page` wants the type before the many
 * fields that hold one. The kernel has the same set, see assembly/definitions.ts.
 */
export const MEMBER_KINDS: ReadonlySet<number> = new Set(
  (["constructor", "field", "property"] as const).map((kind) => SYMBOL_KINDS.indexOf(kind)),
);

/**
 * What a definition defines: the same words for all languages. docs/symbols.md has what counts as which.
 *
 * @example
 * const callable: readonly SymbolKind[] = ["function", "method", "constructor", "macro"];
 */
export type SymbolKind = (typeof SYMBOL_KINDS)[number];
