/**
 * The kinds of definitions. Each kind is stored as its index in this list. So new kinds may be appended to the list,
 * but its order must never change.
 */
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
 * The kinds of members. They rank lower, because someone who types `page` wants the type of that name and not the many
 * fields. The kernel has the same set in assembly/definitions.ts.
 */
export const MEMBER_KINDS: ReadonlySet<number> = new Set(
  (["constructor", "field", "property"] as const).map((kind) => SYMBOL_KINDS.indexOf(kind)),
);

/**
 * The kind of a definition. All languages share these words.
 *
 * @example
 * const callable: readonly SymbolKind[] = ["function", "method", "constructor", "macro"];
 */
export type SymbolKind = (typeof SYMBOL_KINDS)[number];
