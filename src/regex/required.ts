/**
 * Computes what every match of an expression must contain. The result is a formula over literals, which an index can
 * answer. The formula may require less than the expression, but never more.
 *
 * For each node, partsOf() computes all texts that the node matches (`exact`). If there are too many texts, partsOf()
 * computes the texts with which matches begin and end, and a formula for the part in between. A concatenation joins
 * the ends of one node with the beginnings of the next, so that [ab]foo gives afoo or bfoo. A text that matches
 * regardless of case is stored folded. If such a text is joined with a text for which case matters, the joined text
 * matches regardless of case. This only weakens the formula.
 */

import { foldCodePoint, foldText, orbit } from "../kernel/folding.ts";
import type { Node } from "./ast.ts";
import { isSurrogate, members, size, type CodePoints } from "./code-points.ts";

/** A simplified formula. If `fold` is true, a literal matches regardless of case, and `text` is folded. */
export type Formula =
  | { readonly kind: "any" } // requires nothing
  | { readonly kind: "none" } // cannot match
  | { readonly kind: "literal"; readonly text: string; readonly fold: boolean } // LITERAL_BYTES or more
  | { readonly kind: "and"; readonly children: readonly Formula[] }
  | { readonly kind: "or"; readonly children: readonly Formula[] };

interface Literal {
  readonly text: string;
  readonly fold: boolean;
}

/**
 * The texts that a match can be, or with which a match can begin or end. An empty list means that nothing matches.
 */
type Texts = readonly Literal[];

interface Parts {
  readonly exact?: Texts;
  readonly prefix: Texts;
  readonly suffix: Texts;
  readonly inner: Formula; // the formula for the part between prefix and suffix
}

/**
 * The minimum length of a literal in bytes. A gram has three bytes, so shorter literals are useless. If the case
 * forms of a literal differ in length, the shortest form counts.
 */
const LITERAL_BYTES = 3;
const TEXTS = 32; // the maximum number of texts for a node
/**
 * The maximum number of members of a class. The case forms of a letter count as one member. More members would cost
 * more look-ups than they save.
 */
const CLASS_MEMBERS = 4;
const COPIES = 64; // the maximum number of copies of a counted repetition
const ALTERNATIVES = 1_000; // the maximum number of children of an "or"
const ABSORBED = 100; // the maximum number of children that are compared with each other

const ANY: Formula = { kind: "any" };
const NONE: Formula = { kind: "none" };
const NOTHING: Texts = [{ text: "", fold: false }];
const UNKNOWN: Parts = { prefix: NOTHING, suffix: NOTHING, inner: ANY };

export function requiredFormula(node: Node): Formula {
  return whole(partsOf(node));
}

/** Formats a formula on one line. The forms are any, none, "text", "text"i for any case, (and …) and (or …). */
export function formatFormula(formula: Formula): string {
  switch (formula.kind) {
    case "any":
    case "none":
      return formula.kind;
    case "literal":
      return JSON.stringify(formula.text) + (formula.fold ? "i" : "");
    case "and":
    case "or":
      return `(${[formula.kind, ...formula.children.map(formatFormula)].join(" ")})`;
  }
}

function partsOf(node: Node): Parts {
  switch (node.kind) {
    case "empty":
    case "assert":
      return exactly(NOTHING);
    case "char":
      return classParts([node.cp, node.cp]);
    case "class":
      return classParts(node.members);
    case "byte":
      return UNKNOWN;
    case "concat":
      return node.children.map(partsOf).reduce(concat);
    case "alternate":
      return alternate(node.children.map(partsOf));
    case "repeat":
      return repeat(node);
  }
}

const exactly = (exact: Texts): Parts => ({ exact, prefix: exact, suffix: exact, inner: ANY });

function classParts(set: CodePoints): Parts {
  if (size(set) > 4 * CLASS_MEMBERS) return UNKNOWN;
  const inside = new Set(members(set));
  const texts = new Map<string, Literal>();
  for (const cp of inside) {
    if (isSurrogate(cp)) return UNKNOWN;
    const family = orbit(cp);
    const fold = family.length > 1 && family.every((relative) => inside.has(relative));
    const text = String.fromCodePoint(fold ? foldCodePoint(cp) : cp);
    texts.set(`${fold}${text}`, { text, fold });
  }
  return texts.size > CLASS_MEMBERS ? UNKNOWN : exactly([...texts.values()]);
}

function repeat({ child, min, max }: Node & { kind: "repeat" }): Parts {
  const part = partsOf(child);
  if (min === 0) return max === 1 ? alternate([part, exactly(NOTHING)]) : UNKNOWN;
  let parts = part;
  for (let i = 1; i < Math.min(min, COPIES); i++) parts = concat(parts, part);
  if (min === max && min <= COPIES) return parts;
  const inner = and([parts.exact ? ANY : parts.inner, whole(part)]);
  return { prefix: parts.prefix, suffix: parts.suffix, inner };
}

function concat(left: Parts, right: Parts): Parts {
  const joined = cross(left.suffix, right.prefix);
  if (left.exact && right.exact) {
    if (joined) return exactly(joined);
    const inner = and([anyOf(left.exact), anyOf(right.exact)]);
    return { prefix: left.exact, suffix: right.exact, inner };
  }
  if (left.exact) {
    if (joined) return { prefix: joined, suffix: right.suffix, inner: right.inner };
    return { prefix: left.exact, suffix: right.suffix, inner: and([whole(right)]) };
  }
  if (right.exact) {
    if (joined) return { prefix: left.prefix, suffix: joined, inner: left.inner };
    return { prefix: left.prefix, suffix: right.exact, inner: whole(left) };
  }
  const between = joined ? anyOf(joined) : and([anyOf(left.suffix), anyOf(right.prefix)]);
  const inner = and([left.inner, between, right.inner]);
  return { prefix: left.prefix, suffix: right.suffix, inner };
}

function alternate(parts: readonly Parts[]): Parts {
  if (parts.every((part) => part.exact)) {
    const exact = distinct(parts.flatMap((part) => part.exact!));
    if (exact.length <= TEXTS) return exactly(exact);
  }
  return {
    prefix: few(parts.flatMap((part) => part.prefix)),
    suffix: few(parts.flatMap((part) => part.suffix)),
    inner: or(parts.map(whole)),
  };
}

/** Returns a formula for everything that is known about a node's matches. */
function whole(parts: Parts): Formula {
  if (parts.exact) return anyOf(parts.exact);
  return and([anyOf(parts.prefix), parts.inner, anyOf(parts.suffix)]);
}

function few(texts: Texts): Texts {
  const kept = distinct(texts);
  return kept.length <= TEXTS ? kept : NOTHING;
}

function distinct(texts: Texts): Texts {
  const byKey = new Map(texts.map((literal) => [`${literal.fold}${literal.text}`, literal]));
  return [...byKey.values()];
}

/**
 * Returns all combinations of a text of `first` followed by a text of `second`. Returns undefined if there are too
 * many.
 */
function cross(first: Texts, second: Texts): Texts | undefined {
  if (first.length * second.length > TEXTS) return undefined;
  // distinct() is avoided here, because it would read the texts, which forces V8 to copy strings that it concatenates
  // lazily
  if (first.length === 1 && second.length === 1) return [join(first[0]!, second[0]!)];
  const texts = first.flatMap((a) => second.map((b) => join(a, b)));
  // calling distinct() for each letter of a long text would take quadratic time
  return second.length === 1 ? texts : distinct(texts);
}

function join(a: Literal, b: Literal): Literal {
  if (a.fold === b.fold) return { text: a.text + b.text, fold: a.fold };
  return { text: folded(a) + folded(b), fold: true };
}

const folded = ({ text, fold }: Literal): string => (fold ? text : foldText(text));

function anyOf(texts: Texts): Formula {
  if (texts.some((literal) => shortestBytes(literal) < LITERAL_BYTES)) return ANY;
  return or(texts.map(({ text, fold }) => ({ kind: "literal", text, fold })));
}

const utf8Length = (cp: number) => (cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4);

/** Returns the length of a literal's shortest case form in bytes. Counts only until LITERAL_BYTES is reached. */
function shortestBytes({ text, fold }: Literal): number {
  let bytes = 0;
  for (let at = 0; at < text.length && bytes < LITERAL_BYTES; at++) {
    const cp = text.codePointAt(at)!;
    if (cp > 0xffff) at++;
    bytes += fold ? Math.min(...orbit(cp).map(utf8Length)) : utf8Length(cp);
  }
  return bytes;
}

function and(given: readonly Formula[]): Formula {
  const children = given.flatMap((child) => (child.kind === "and" ? child.children : [child]));
  if (children.some((child) => child.kind === "none")) return NONE;
  const kept = strongest(children.filter((child) => child.kind !== "any"));
  if (kept.length === 0) return ANY;
  return kept.length === 1 ? kept[0]! : { kind: "and", children: kept };
}

function or(given: readonly Formula[]): Formula {
  const children = given.flatMap((child) => (child.kind === "or" ? child.children : [child]));
  if (children.some((child) => child.kind === "any")) return ANY;
  const kept = weakest(children.filter((child) => child.kind !== "none"));
  if (kept.length === 0) return NONE;
  if (kept.length > ALTERNATIVES) return ANY;
  return kept.length === 1 ? kept[0]! : { kind: "or", children: kept };
}

/** Removes children that are implied by another child. */
function strongest(children: readonly Formula[]): Formula[] {
  return absorb(children, (other, child) => implies(other, child));
}

/** Removes children that imply another child. */
function weakest(children: readonly Formula[]): Formula[] {
  return absorb(children, (other, child) => implies(child, other));
}

function absorb(
  children: readonly Formula[],
  makesIdle: (other: Formula, child: Formula) => boolean,
): Formula[] {
  const unique = [...new Map(children.map((child) => [formatFormula(child), child])).values()];
  if (unique.length > ABSORBED) return unique;
  const kept: Formula[] = [];
  for (const [i, child] of unique.entries()) {
    const others = [...kept, ...unique.slice(i + 1)];
    if (!others.some((other) => makesIdle(other, child))) kept.push(child);
  }
  return kept;
}

function implies(a: Formula, b: Formula): boolean {
  if (b.kind === "any" || a.kind === "none") return true;
  if (a.kind === "any" || b.kind === "none") return false;
  if (a.kind === "or") return a.children.every((child) => implies(child, b));
  if (b.kind === "and") return b.children.every((child) => implies(a, child));
  if (b.kind === "or" && b.children.some((child) => implies(a, child))) return true;
  if (a.kind === "and") return a.children.some((child) => implies(child, b));
  return a.kind === "literal" && b.kind === "literal" && contains(a, b);
}

function contains(a: Literal, b: Literal): boolean {
  if (a.fold && !b.fold) return false;
  return (b.fold ? folded(a) : a.text).includes(b.text);
}
