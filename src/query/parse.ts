/**
 * Parses the text of a query. docs/query-language.md describes the language. In short:
 *
 *   query := or                          or    := and ("or" and)*
 *   and   := unary+                      unary := "-" (prefix | group) | prefix | group | quoted | term
 *   group := "(" or? ")"                 prefix := keyword ":" (quoted | word)
 *
 * This is a recursive descent parser. It reads the text itself, without a tokenizer. lexemes.ts finds the ends of
 * words, and groups.ts finds the parentheses that are groups. For any text, the result is a query or one QuernError
 * with a position. The time is linear in the length of the text, because groups.ts and the parser only move forward,
 * and equal expressions are checked only once. The depth of the recursion is the nesting depth of groups, which is at
 * most MAX_NESTING.
 */

import type { QuernError } from "../base/errors.ts";
import {
  ALL,
  NONE,
  SELECTIONS,
  formatQuery,
  formatValue,
  VISIBILITIES,
  atomsOf,
  conjuncts,
  HISTORY_SELECTIONS,
  HISTORY_TYPES,
  type HistoryFilter,
  type HistoryText,
  type HistoryType,
  type Query,
  type RegexField,
} from "./ast.ts";
import type { Pause } from "../base/yield.ts";
import { compileSteps, lineExpression } from "../regex/expression.ts";
import { secondsOf } from "./dates.ts";
import { expressionChecker, type Operand } from "./check-expression.ts";
import { findGroups } from "./groups.ts";
import {
  endOfQuoted,
  endOfWord,
  isBlank,
  isPattern,
  prefixAt,
  skipBlanks,
  unquote,
  type Prefix,
} from "./lexemes.ts";
import { globPattern, looksLikeGlob } from "./glob.ts";
import { pointingError } from "./point-at.ts";

/** The maximum nesting depth of groups. */
export const MAX_NESTING = 250;

/**
 * The limits of one query, which bound the time and memory of all later steps. A term is a word, a quoted string
 * or a filter. Characters are UTF-16 units.
 */
export const QUERY_LIMITS = {
  characters: 250_000,
  terms: 2_000,
  /** The number of characters of all terms together, except for the names in `reposet:`. */
  termCharacters: 100_000,
  /** The number of terms, each counted once for every group around it, because groups are flattened one at a time. */
  groupedTerms: 20_000,
  /**
   * The number of terms about repositories and revisions. For each of them, the set of its files is built before the
   * search begins.
   */
  repositoryTerms: 200,
  /** The number of repository names in all `reposet:` filters together. */
  names: 10_000,
} as const;

export interface Dialect {
  /** Whether terms are regular expressions. */
  readonly regex: boolean;
  readonly caseSensitive: boolean;
}

/** Parses a query. Throws QUERY_SYNTAX, REGEX_SYNTAX or REGEX_TOO_LARGE. */
export function parseQuery(text: string, dialect: Dialect): Query {
  const { query, expressions, check } = parse(text, dialect);
  for (const expression of expressions) check(expression);
  return query;
}

/** A query of the history. */
export interface HistoryQuery {
  readonly type: HistoryType;
  readonly query: Query;
}

/** Returns whether a text may be a query of the history. An ordinary query costs no more than this test. */
export const mayBeHistory = (text: unknown): boolean =>
  typeof text === "string" && /(?:^|[\s(-])type:/.test(text);

/**
 * Parses a query of the history, which has the filter `type:`. Returns undefined if it has no such filter, so that it
 * is an ordinary query.
 */
export function parseHistoryQuery(text: string, dialect: Dialect): HistoryQuery | undefined {
  const { query, expressions, terms, check } = parse(text, dialect, true);
  const types = atomsOf(query).flatMap((atom) =>
    atom.kind === "history" && atom.filter.name === "type" ? [atom.filter.value] : [],
  );
  if (types.length === 0) return undefined;
  const fail = (reason: string, name: string) =>
    pointingError("QUERY_SYNTAX", reason, text, Math.max(0, text.indexOf(`${name}:`)));
  for (const name of ["type", "select"] as const) {
    const isThis = (one: Query) => one.kind === "history" && one.filter.name === name;
    const top = conjuncts(query).filter(isThis);
    if (top.length !== atomsOf(query).filter(isThis).length)
      throw fail(
        `${name}: applies to the whole query, so it cannot be negated or in a group`,
        name,
      );
    if (new Set(top.map(formatQuery)).size > 1) throw fail(`${name}: is given twice`, name);
  }
  const [type] = types as [HistoryType];
  const hasFilter = (name: string) =>
    atomsOf(query).some((atom) => atom.kind === "history" && atom.filter.name === name);
  if (type === "commit")
    for (const name of ["select", "added", "removed"])
      if (hasFilter(name)) throw fail(`${name}: needs type:diff`, name);
  for (const kind of ["symbol", "language"] as const)
    if (atomsOf(query).some((atom) => atom.kind === kind || isField(atom, kind)))
      throw fail(
        `${kind === "symbol" ? "sym" : "lang"}: cannot be used together with type:`,
        kind === "symbol" ? "sym" : "lang",
      );
  for (const expression of expressions) check(expression);
  if (type === "diff")
    for (const term of terms)
      if (needsNewline(term, dialect))
        throw pointingError(
          "QUERY_SYNTAX",
          "with type:diff a term is within one line, so it cannot contain a newline",
          text,
          term.at,
        );
  return { type, query };
}

const isField = (atom: Query, field: string): boolean =>
  atom.kind === "regex" && atom.field === field;

/** Returns whether a term matches only texts with a newline. */
function needsNewline({ text }: Operand, { regex, caseSensitive }: Dialect): boolean {
  if (!regex) return text.includes("\n");
  return lineExpression(text, { caseSensitive }) === undefined;
}

/**
 * Does the same as parseQuery(), but yields to the event loop between expressions, and while large classes are built.
 */
export async function parseInSlices(text: string, dialect: Dialect, pause: Pause): Promise<Query> {
  const { query, expressions, check } = parse(text, dialect);
  for (const expression of expressions) {
    await pause();
    if (HAS_CLASSES.test(expression.text))
      for (const _ of compileSteps(expression.text, dialect)) await pause();
    check(expression);
  }
  return query;
}

/** Matches an expression with a Unicode class or a bracketed class, either of which may be large. */
const HAS_CLASSES = /\\[pP]|\[/;

/** Parses everything except the expressions. The caller must check the returned expressions in their order. */
function parse(text: string, dialect: Dialect, isHistory = false) {
  const { characters } = QUERY_LIMITS;
  if (text.length > characters) {
    const reason = `the query is longer than ${characters} characters`;
    throw pointingError("QUERY_SYNTAX", reason, text, characters);
  }
  const parser = new Parser(text, dialect, isHistory);
  const query = parser.query();
  const check = expressionChecker(text, dialect.caseSensitive);
  return { query, expressions: parser.expressions, terms: parser.terms, check };
}

class Parser {
  readonly expressions: Operand[] = [];
  /** The operands that are searched in content. */
  readonly terms: Operand[] = [];
  readonly #isHistory: boolean;
  readonly #text: string;
  readonly #dialect: Dialect;
  readonly #groups: ReadonlySet<number>;
  /**
   * The start and the end of the text, without the blanks around it. An `or` at the start or at the end is a term.
   */
  readonly #first: number;
  readonly #last: number;
  #at: number;
  #depth = 0;
  readonly #held = { terms: 0, termCharacters: 0, groupedTerms: 0, repositoryTerms: 0, names: 0 };

  constructor(text: string, dialect: Dialect, isHistory: boolean) {
    this.#text = text;
    this.#isHistory = isHistory;
    this.#dialect = dialect;
    this.#groups = findGroups(text, dialect.regex, isHistory);
    this.#first = skipBlanks(text, 0);
    this.#last = endWithoutBlanks(text);
    this.#at = this.#first;
  }

  query(): Query {
    if (this.#at === this.#text.length) throw this.#error("the query is empty", 0);
    return this.#or();
  }

  /** Parses alternatives up to the end of the text, or up to the `)` of the group. */
  #or(): Query {
    const alternatives: Query[] = [];
    let operands: Query[] = [];
    let operator = -1;
    while (!this.#atClose()) {
      const end = this.#endOfOperator();
      if (end === undefined) {
        operands.push(this.#unary());
        continue;
      }
      operator = this.#at;
      if (operands.length === 0) throw this.#lonelyOr(operator, "left");
      alternatives.push(and(operands));
      operands = [];
      this.#at = end;
    }
    if (operator >= 0 && operands.length === 0) throw this.#lonelyOr(operator, "right");
    if (operands.length === 0) return this.#dialect.regex ? ALL : NONE; // an empty group
    alternatives.push(and(operands));
    return alternatives.length === 1 ? alternatives[0]! : { kind: "or", children: alternatives };
  }

  /** Skips blanks. Returns whether the text or the group ends here. */
  #atClose(): boolean {
    this.#at = skipBlanks(this.#text, this.#at);
    return this.#at === this.#text.length || (this.#depth > 0 && this.#text[this.#at] === ")");
  }

  #endOfOperator(): number | undefined {
    if (!this.#text.startsWith("or", this.#at)) return undefined;
    const end = this.#endOfWord(this.#at, undefined);
    const isOperator = end - this.#at === 2 && this.#at !== this.#first && end !== this.#last;
    return isOperator ? end : undefined;
  }

  #unary(): Query {
    const start = this.#at;
    if (this.#text[start] !== "-") return this.#prefixed() ?? this.#group() ?? this.#term();
    this.#at = skipBlanks(this.#text, start + 1);
    const negated = this.#prefixed() ?? this.#group();
    if (negated !== undefined) return not(negated);
    this.#at = start;
    return this.#term();
  }

  #group(): Query | undefined {
    if (!this.#groups.has(this.#at)) return undefined;
    if (this.#depth === MAX_NESTING)
      throw this.#error(`groups nest more than ${MAX_NESTING} deep`, this.#at);
    this.#depth++;
    this.#at++;
    const inner = this.#or();
    this.#at++; // the `)`, which findGroups() has found
    this.#depth--;
    return inner;
  }

  #term(): Query {
    return this.#content(this.#operand(undefined));
  }

  #prefixed(): Query | undefined {
    const found = prefixAt(this.#text, this.#at, this.#isHistory);
    if (found === undefined) return undefined;
    const colon = found.end - 1;
    const keyword = this.#text.slice(this.#at, colon);
    this.#at = found.end;
    const operand = this.#operand(found.prefix);
    const isTerm = found.prefix === "content" && operand.quoted; // content:"" means the same as ""
    if (operand.text === "" && !isTerm)
      throw this.#error(`${keyword}: needs a value right after the colon`, found.end);
    return this.#filter(found.prefix, operand);
  }

  #filter(prefix: Prefix, operand: Operand): Query {
    const value = operand.text;
    switch (prefix) {
      case "file":
      case "repo":
        return this.#regex(prefix, operand);
      case "sym":
        return this.#regex("symbol", operand);
      case "content":
        return this.#content(operand);
      case "lang":
        return { kind: "language", name: value };
      case "rev":
        return { kind: "revision", value };
      case "context":
        return { kind: "context", name: value };
      case "reposet":
        return { kind: "reposet", names: this.#names(operand) };
      case "archived":
      case "fork":
        return { kind: prefix, value: this.#choice(prefix, SELECTIONS, operand) };
      case "visibility":
        return { kind: prefix, value: this.#choice(prefix, VISIBILITIES, operand) };
      case "type":
        return history({ name: prefix, value: this.#choice(prefix, HISTORY_TYPES, operand) });
      case "select":
        return history({ name: prefix, value: this.#choice(prefix, HISTORY_SELECTIONS, operand) });
      case "before":
      case "after": {
        const seconds = secondsOf(value, Date.now());
        if (seconds !== undefined) return history({ name: prefix, seconds, value });
        const reason = `${prefix}: takes a date such as 2026-05-01 or "3 weeks ago"`;
        throw this.#error(reason, operand.at);
      }
      case "added":
      case "removed":
        this.terms.push(operand);
        return this.#historyText(prefix, operand, this.#dialect.regex);
      case "message":
        return this.#historyText(prefix, operand, this.#dialect.regex);
      case "author":
      case "committer":
        return this.#historyText(prefix, operand, true);
    }
  }

  #historyText(name: HistoryText, operand: Operand, isExpression: boolean): Query {
    if (isExpression) this.expressions.push(operand);
    const { caseSensitive } = this.#dialect;
    return history({ name, value: operand.text, isExpression, caseSensitive });
  }

  #content(operand: Operand): Query {
    const { text, quoted } = operand;
    const { regex, caseSensitive } = this.#dialect;
    this.terms.push(operand);
    if (text === "" || (regex && text === "()" && !quoted)) return ALL;
    return regex ? this.#regex("content", operand) : { kind: "literal", text, caseSensitive };
  }

  #regex(field: RegexField, operand: Operand): Query {
    const advice = field === "file" ? globAdvice(operand.text) : undefined;
    this.expressions.push(advice === undefined ? operand : { ...operand, advice });
    const { caseSensitive } = this.#dialect;
    return { kind: "regex", field, pattern: operand.text, caseSensitive };
  }

  #names(operand: Operand): string[] {
    const names = operand.text.split(",").filter((name) => name !== "");
    if (names.length === 0) throw this.#error("reposet: needs a repository's name", operand.at);
    this.#hold("names", names.length, operand.at);
    return names;
  }

  #choice<T extends string>(keyword: string, choices: readonly T[], operand: Operand): T {
    const choice = choices.find((each) => each === operand.text);
    if (choice !== undefined) return choice;
    throw this.#error(`${keyword}: takes one of ${choices.join(", ")}`, operand.at);
  }

  /** Reads a quoted string or a word. A word may be empty after a prefix. */
  #operand(prefix: Prefix | undefined): Operand {
    const at = this.#at;
    const quotedEnd = this.#text[at] === '"' ? endOfQuoted(this.#text, at) : undefined;
    this.#at = quotedEnd ?? this.#endOfWord(at, prefix);
    const raw = this.#text.slice(at, this.#at);
    const quoted = quotedEnd !== undefined;
    this.#hold("terms", 1, at);
    this.#hold("groupedTerms", this.#depth, at);
    if (prefix !== "reposet") this.#hold("termCharacters", raw.length, at);
    if (prefix !== undefined && ABOUT_REPOSITORIES.has(prefix))
      this.#hold("repositoryTerms", 1, at);
    return { at, quoted, text: quoted ? unquote(raw) : raw };
  }

  /** Adds `more` to a count of the query. Throws if the count exceeds its limit. */
  #hold(what: keyof typeof TOO_MUCH, more: number, at: number): void {
    this.#held[what] += more;
    const most = QUERY_LIMITS[what];
    if (this.#held[what] > most) throw this.#error(TOO_MUCH[what](most), at);
  }

  #endOfWord(at: number, prefix: Prefix | undefined): number {
    const pattern = isPattern(prefix, this.#dialect.regex);
    return endOfWord(this.#text, at, { pattern, inGroup: this.#depth > 0 });
  }

  #lonelyOr(position: number, side: "left" | "right"): QuernError {
    const advice = `this or has nothing on its ${side}; to search for the word, write "or"`;
    return this.#error(advice, position);
  }

  #error(reason: string, position: number): QuernError {
    return pointingError("QUERY_SYNTAX", reason, this.#text, position);
  }
}

const ABOUT_REPOSITORIES: ReadonlySet<Prefix> = new Set([
  "repo",
  "rev",
  "reposet",
  "context",
  "archived",
  "fork",
  "visibility",
]);

const TOO_MUCH = {
  terms: (most: number) => `the query has more than ${most} terms`,
  termCharacters: (most: number) => `the query's terms have more than ${most} characters`,
  groupedTerms: (most: number) =>
    `the query's groups have more than ${most} terms, each counted once for every group around it`,
  repositoryTerms: (most: number) =>
    `the query has more than ${most} terms about repositories and revisions; reposet: takes many names`,
  names: (most: number) => `reposet: takes at most ${most} names; a context can have more of them`,
};

/** Returns advice for a value that looks like a glob. */
function globAdvice(value: string): string | undefined {
  return looksLikeGlob(value)
    ? `as a glob it is file:${formatValue(globPattern(value))}`
    : undefined;
}

const history = (filter: HistoryFilter): Query => ({ kind: "history", filter });

function and(operands: readonly Query[]): Query {
  return operands.length === 1 ? operands[0]! : { kind: "and", children: operands };
}

/** Negates a query. Constants are negated immediately, because the regex dialect cannot express `none` itself. */
function not(child: Query): Query {
  if (child.kind === "all") return NONE;
  return child.kind === "none" ? ALL : { kind: "not", child };
}

function endWithoutBlanks(text: string): number {
  let end = text.length;
  while (end > 0 && isBlank(text, end - 1)) end--;
  return end;
}
