/** The kinds of definitions. They are stored by their index in this list, so append to it, but never reorder it. */
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
 * The kinds of members, which rank lower: someone who types `page` wants the type, not the many fields of that name.
 * The kernel has the same set in assembly/definitions.ts.
 */
export const MEMBER_KINDS: ReadonlySet<number> = new Set(
  (["constructor", "field", "property"] as const).map((kind) => SYMBOL_KINDS.indexOf(kind)),
);

/**
 * The kind of a definition. All languages share these words; docs/symbols.md says what each one means.
 *
 * @example
 * const callable: readonly SymbolKind[] = ["function", "method", "constructor", "macro"];
 */
export type SymbolKind = (typeof SYMBOL_KINDS)[number];
