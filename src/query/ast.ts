/**
 * Defines the syntax tree of a query, and the canonical text of a query. parse.ts builds the tree, simplify.ts
 * shrinks it, and the search evaluates it. Each atom contains the case flag, and each term has become a literal or an
 * expression. So the meaning of the tree does not depend on the flags of the request.
 */

/** A query. `and` and `or` have at least two children. */
export type Query =
  | Constant
  | Atom
  | { readonly kind: "and"; readonly children: readonly Query[] }
  | { readonly kind: "or"; readonly children: readonly Query[] }
  | { readonly kind: "not"; readonly child: Query };

export type Constant = { readonly kind: "all" } | { readonly kind: "none" };

/** A query without operators. `literal` and `regex` (except for `repo`) yield ranges. All other atoms are filters. */
export type Atom =
  /** A substring of the content. `text` is not empty. */
  | { readonly kind: "literal"; readonly text: string; readonly caseSensitive: boolean }
  | {
      readonly kind: "regex";
      readonly field: RegexField;
      readonly pattern: string;
      readonly caseSensitive: boolean;
    }
  /** A language's name or alias, as it was typed. */
  | { readonly kind: "language"; readonly name: string }
  /** One of: `*`, `HEAD`, a full commit id, or a part of a revision's name. */
  | { readonly kind: "revision"; readonly value: string }
  /** The exact names of one or more repositories. No name is empty or contains a comma. */
  | { readonly kind: "reposet"; readonly names: readonly string[] }
  | { readonly kind: "context"; readonly name: string }
  | { readonly kind: "archived" | "fork"; readonly value: Selection }
  | { readonly kind: "visibility"; readonly value: Visibility }
  /** A filter that only queries of the history have. */
  | { readonly kind: "history"; readonly filter: HistoryFilter };

export type HistoryFilter =
  | { readonly name: "type"; readonly value: HistoryType }
  | { readonly name: "select"; readonly value: HistorySelection }
  /** `seconds` is the time since 1970. */
  | { readonly name: "before" | "after"; readonly seconds: number; readonly value: string }
  | {
      readonly name: HistoryText;
      readonly value: string;
      readonly isExpression: boolean;
      readonly caseSensitive: boolean;
    };

export const HISTORY_TYPES = ["diff", "commit"] as const;
export type HistoryType = (typeof HISTORY_TYPES)[number];

export const HISTORY_SELECTIONS = ["commit.diff.added", "commit.diff.removed"] as const;
export type HistorySelection = (typeof HISTORY_SELECTIONS)[number];

export type HistoryText = "added" | "removed" | "message" | "author" | "committer";

export type RegexField = "content" | "file" | "repo" | "symbol";

export const SELECTIONS = ["yes", "no", "only"] as const;
export type Selection = (typeof SELECTIONS)[number];

export const VISIBILITIES = ["public", "private", "any"] as const;
export type Visibility = (typeof VISIBILITIES)[number];

export const ALL: Query = { kind: "all" };
export const NONE: Query = { kind: "none" };

export function isConstant(query: Query): query is Constant {
  return query.kind === "all" || query.kind === "none";
}

/** Returns every atom from left to right, including those under negations. */
export function atomsOf(query: Query): Atom[] {
  if (query.kind === "and" || query.kind === "or") return query.children.flatMap(atomsOf);
  if (query.kind === "not") return atomsOf(query.child);
  return isConstant(query) ? [] : [query];
}

/** Returns the operands that must all be true for a file that matches the query. */
export function conjuncts(query: Query): readonly Query[] {
  return query.kind === "and" ? query.children : [query];
}

/**
 * Returns whether a query has a `rev:` filter, and so may search revisions other than the default ones. REQUIRES: the
 * query has not been simplified, because simplify() may drop the filter.
 */
export function namesRevision(query: Query): boolean {
  return atomsOf(query).some((atom) => atom.kind === "revision");
}

/** Returns a text that parses to this query, in the same dialect and with the same case flag. */
export function formatQuery(query: Query): string {
  if (query.kind === "all") return `""`;
  if (query.kind === "none") return `-("")`;
  if (query.kind === "and") return query.children.map(formatOperand).join(" ");
  if (query.kind === "or") return query.children.map(formatAlternative).join(" or ");
  if (query.kind === "not") return formatNegated(query.child);
  if (query.kind === "literal") return formatTerm(query.text);
  if (query.kind === "regex" && query.field === "content") return formatTerm(query.pattern);
  return formatPrefix(query);
}

function formatAlternative(query: Query): string {
  return query.kind === "or" ? `(${formatQuery(query)})` : formatQuery(query);
}

function formatOperand(query: Query): string {
  return query.kind === "and" || query.kind === "or"
    ? `(${formatQuery(query)})`
    : formatQuery(query);
}

/**
 * Returns the text of a negation. A query can negate only filters and groups. Therefore, an atom is written as a
 * filter, and anything else is written as a group.
 */
function formatNegated(child: Query): string {
  const isAtom = child.kind !== "and" && child.kind !== "or" && child.kind !== "not";
  return isAtom && !isConstant(child) ? `-${formatPrefix(child)}` : `-(${formatQuery(child)})`;
}

function formatPrefix(atom: Atom): string {
  switch (atom.kind) {
    case "literal":
      return `content:${formatValue(atom.text)}`;
    case "regex":
      return `${atom.field === "symbol" ? "sym" : atom.field}:${formatValue(atom.pattern)}`;
    case "language":
      return `lang:${formatValue(atom.name)}`;
    case "revision":
      return `rev:${formatValue(atom.value)}`;
    case "reposet":
      return `reposet:${formatValue(atom.names.join(","))}`;
    case "context":
      return `context:${formatValue(atom.name)}`;
    case "archived":
    case "fork":
    case "visibility":
      return `${atom.kind}:${atom.value}`;
    case "history":
      return `${atom.filter.name}:${formatValue(atom.filter.value)}`;
  }
}

function formatTerm(text: string): string {
  return text === "or" || /^-|:/.test(text) ? quote(text) : formatValue(text);
}

/** Quotes a text if it is empty, or contains something that may have a special meaning in one of the dialects. */
export function formatValue(text: string): string {
  return /^[^\s"()]+$/.test(text) && !text.includes("\\Q") ? text : quote(text);
}

/** Returns the text as a quoted string of a query. */
export function quote(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
