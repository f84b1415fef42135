/**
 * The query as data, and its canonical text. Built by parse.ts, shrunk by simplify.ts, evaluated by
 * the search. The case flag is folded into the atoms it rules, so that a query means the same
 * wherever it travels; the dialect is gone too: what a term became says it all.
 */

/** `and` and `or` have two children or more. */
export type Query =
  | Constant
  | Atom
  | { readonly kind: "and"; readonly children: readonly Query[] }
  | { readonly kind: "or"; readonly children: readonly Query[] }
  | { readonly kind: "not"; readonly child: Query };

export type Constant = { readonly kind: "all" } | { readonly kind: "none" };

/** `literal`, and `regex` but for `repo`, yield ranges; all other atoms are filters. */
export type Atom =
  /** A substring of the content. `text` is not empty. */
  | { readonly kind: "literal"; readonly text: string; readonly caseSensitive: boolean }
  | {
      readonly kind: "regex";
      readonly field: RegexField;
      readonly pattern: string;
      readonly caseSensitive: boolean;
    }
  /** A language's name or alias as it was typed. */
  | { readonly kind: "language"; readonly name: string }
  /** Part of a revision's name, `*`, `HEAD` or a full commit id. */
  | { readonly kind: "revision"; readonly value: string }
  /** Exact names, at least one, none empty, none with a comma. */
  | { readonly kind: "reposet"; readonly names: readonly string[] }
  | { readonly kind: "context"; readonly name: string }
  | { readonly kind: "archived" | "fork"; readonly value: Selection }
  | { readonly kind: "visibility"; readonly value: Visibility };

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

/** Every atom, from left to right, those under negations too. */
export function atomsOf(query: Query): Atom[] {
  if (query.kind === "and" || query.kind === "or") return query.children.flatMap(atomsOf);
  if (query.kind === "not") return atomsOf(query.child);
  return isConstant(query) ? [] : [query];
}

/** What must all hold of a file. */
export function conjuncts(query: Query): readonly Query[] {
  return query.kind === "and" ? query.children : [query];
}

/**
 * Whether more than the default revisions are searched. Ask it of the query as parsed: simplifying
 * may drop the `rev:` that decides it.
 */
export function namesRevision(query: Query): boolean {
  return atomsOf(query).some((atom) => atom.kind === "revision");
}

/** One line that parses back to the same query, in the dialect it came from, under the same case flag. */
export function show(query: Query): string {
  if (query.kind === "all") return `""`;
  if (query.kind === "none") return `-("")`;
  if (query.kind === "and") return query.children.map(showOperand).join(" ");
  if (query.kind === "or") return query.children.map(showAlternative).join(" or ");
  if (query.kind === "not") return showNegated(query.child);
  if (query.kind === "literal") return showTerm(query.text);
  if (query.kind === "regex" && query.field === "content") return showTerm(query.pattern);
  return showPrefix(query);
}

function showAlternative(query: Query): string {
  return query.kind === "or" ? `(${show(query)})` : show(query);
}

function showOperand(query: Query): string {
  return query.kind === "and" || query.kind === "or" ? `(${show(query)})` : show(query);
}

/** Only a prefix or a group can be negated: an atom is shown as the one, all else as the other. */
function showNegated(child: Query): string {
  const isAtom = child.kind !== "and" && child.kind !== "or" && child.kind !== "not";
  return isAtom && !isConstant(child) ? `-${showPrefix(child)}` : `-(${show(child)})`;
}

function showPrefix(atom: Atom): string {
  switch (atom.kind) {
    case "literal":
      return `content:${showValue(atom.text)}`;
    case "regex":
      return `${atom.field === "symbol" ? "sym" : atom.field}:${showValue(atom.pattern)}`;
    case "language":
      return `lang:${showValue(atom.name)}`;
    case "revision":
      return `rev:${showValue(atom.value)}`;
    case "reposet":
      return `reposet:${showValue(atom.names.join(","))}`;
    case "context":
      return `context:${showValue(atom.name)}`;
    case "archived":
    case "fork":
    case "visibility":
      return `${atom.kind}:${atom.value}`;
  }
}

function showTerm(text: string): string {
  return text === "or" || /^-|:/.test(text) ? quote(text) : showValue(text);
}

/** Bare where no rule of either dialect gives any of its characters a meaning. */
export function showValue(text: string): string {
  return /^[^\s"()]+$/.test(text) && !text.includes("\\Q") ? text : quote(text);
}

/** As a quoted string of a query. */
export function quote(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
