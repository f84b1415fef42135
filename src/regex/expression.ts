/**
 * Compiles a regular expression to everything that the planner needs. An expression is accepted if RE2 would accept
 * it and if it is within our limits. RE2 itself is not called, because RE2 takes up to half a second to compile a
 * large expression, and would block the host's thread. Instead, the parser rejects every expression that RE2 rejects
 * as invalid, and our limits are below those of RE2.
 */

import { QuernError } from "../base/errors.ts";
import { LruCache } from "../base/lru-cache.ts";
import { EMPTY, type Node } from "./ast.ts";
import { partitionSteps } from "./byte-classes.ts";
import { includes, withoutMember, type CodePoints } from "./code-points.ts";
import { parseExpression } from "./parse.ts";
import { countNodes, NODE_LIMIT } from "./program.ts";
import { re2Size } from "./re2-size.ts";
import { byteGraphSteps } from "./utf8.ts";
import { requiredFormula, type Formula } from "./required.ts";

/** The part of an expression that RE2 needs. */
export interface ExpressionSource {
  /** The pattern, as the caller has given it. */
  readonly source: string;
  readonly caseSensitive: boolean;
  /** The expression's size as re2Size() computes it. Default: unlimited. */
  readonly size?: number;
  /**
   * Whether a match can contain a newline, depend on where the text begins or ends, or be empty. If this is false,
   * every match is within one line, and scanning any whole lines gives the same matches. Default: true.
   */
  readonly crossesLines?: boolean;
}

export interface Expression extends ExpressionSource {
  readonly syntax: Node;
  /** The expression's size as re2Size() computes it. */
  readonly size: number;
  /** What every match must contain, as a formula over literals. */
  readonly required: Formula;
  readonly crossesLines: boolean;
  /** Whether a match can be empty. */
  readonly matchesEmpty: boolean;
}

const PATTERN_LIMIT = 10_000; // in UTF-16 units
/** The maximum number of ranges in all classes together. RE2 keeps each range in its heap. */
const RANGES_LIMIT = 30_000;
/**
 * The maximum of re2Size(). RE2 takes half a second to compile an expression of this size. Its heap has room for
 * expressions of 1.5 times this size.
 */
const SIZE_LIMIT = 100_000;
/** The maximum number of successive parts that may all be absent. RE2's time grows with the square of this number. */
const OPTIONAL_LIMIT = 1_500;
const KEPT = 64;

const accepted = new LruCache<string, Expression>({ most: KEPT });

/**
 * Compiles an expression. Throws REGEX_SYNTAX or REGEX_TOO_LARGE, with a `position` that counts from the beginning of
 * the pattern.
 */
export function compileExpression(
  source: string,
  { caseSensitive }: { caseSensitive: boolean },
): Expression {
  const key = `${caseSensitive}${source}`;
  return accepted.getOrMake(key, () => understand(source, caseSensitive));
}

/**
 * Compiles an expression so that it matches within single lines, each of which counts as a whole text: no match contains
 * a newline, and a line begins and ends where a text does. Returns undefined if the expression matches no such text.
 * Throws as compileExpression() does.
 */
export function lineExpression(
  source: string,
  { caseSensitive }: { caseSensitive: boolean },
): Expression | undefined {
  const expression = compileExpression(source, { caseSensitive });
  if (!seesOtherLines(expression.syntax)) return expression;
  const syntax = withoutNewlines(expression.syntax);
  if (!syntax) return undefined;
  return {
    ...expression,
    source: `\n${source}`, // the matchers of both expressions are cached by their sources
    syntax,
    required: requiredFormula(syntax),
    matchesEmpty: canBeEmpty(syntax),
  };
}

/** Returns the syntax that matches only the texts without a newline, or undefined if there are none. */
function withoutNewlines(node: Node): Node | undefined {
  switch (node.kind) {
    case "char":
      return node.cp === 10 ? undefined : node;
    case "class": {
      const members = withoutMember(node.members, 10);
      return members.length === 0 ? undefined : { kind: "class", members };
    }
    case "byte": // would have to match any byte but a newline
      return undefined;
    case "empty":
      return node;
    case "assert":
      if (node.assertion === "textStart") return { kind: "assert", assertion: "lineStart" };
      if (node.assertion === "textEnd") return { kind: "assert", assertion: "lineEnd" };
      return node;
    case "concat": {
      const children = node.children.map(withoutNewlines);
      return children.every((child) => child !== undefined)
        ? { kind: "concat", children }
        : undefined;
    }
    case "alternate": {
      const children = node.children.flatMap((child) => withoutNewlines(child) ?? []);
      return children.length === 0 ? undefined : { kind: "alternate", children };
    }
    case "repeat": {
      const child = withoutNewlines(node.child);
      const last = node.last && withoutNewlines(node.last);
      if (child) return { ...node, child, ...(last && { last }) };
      return node.min === 0 ? EMPTY : undefined;
    }
  }
}

/**
 * Prepares the graphs of large classes in steps, because building these graphs takes most of compileExpression()'s
 * time. Does nothing if the pattern is invalid.
 */
export function* compileSteps(
  source: string,
  { caseSensitive }: { caseSensitive: boolean },
): Generator<void> {
  if (source.length > PATTERN_LIMIT || accepted.has(`${caseSensitive}${source}`)) return;
  let syntax: Node;
  try {
    syntax = parseExpression(source, { caseSensitive });
  } catch {
    return;
  }
  yield;
  for (const members of largeClasses(syntax))
    for (const backwards of [false, true])
      yield* partitionSteps(yield* byteGraphSteps(members, backwards));
}

const LARGE_CLASS = 64; // the length of the class's list, which has two numbers for each range

function* largeClasses(node: Node): Generator<CodePoints> {
  if (node.kind === "class" && node.members.length > LARGE_CLASS) yield node.members;
  for (const child of childrenOf(node)) yield* largeClasses(child);
}

function understand(source: string, caseSensitive: boolean): Expression {
  if (source.length > PATTERN_LIMIT)
    throw tooLarge(`longer than ${PATTERN_LIMIT} characters`, PATTERN_LIMIT);
  const syntax = parseExpression(source, { caseSensitive });
  if (sum(syntax, (node) => (node.kind === "class" ? node.members.length / 2 : 0)) > RANGES_LIMIT)
    throw tooLarge("its character classes are too large");
  if (optionalRun(syntax) > OPTIONAL_LIMIT) throw tooLarge("too many optional parts in a row");
  if (countNodes(syntax) > NODE_LIMIT) throw tooLarge("its repetitions are too large");
  const size = re2Size(syntax);
  if (size > SIZE_LIMIT) throw tooLarge("its repeated classes are too large");
  const matchesEmpty = canBeEmpty(syntax);
  return {
    source,
    caseSensitive,
    syntax,
    size,
    required: requiredFormula(syntax),
    crossesLines: matchesEmpty || seesOtherLines(syntax),
    matchesEmpty,
  };
}

function tooLarge(reason: string, position = 0): QuernError {
  return new QuernError("REGEX_TOO_LARGE", `regular expression: ${reason}`, { position });
}

function childrenOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case "concat":
    case "alternate":
      return node.children;
    case "repeat":
      return [node.child];
    case "empty":
    case "char":
    case "class":
    case "byte":
    case "assert":
      return [];
  }
}

const sum = (node: Node, value: (node: Node) => number): number =>
  childrenOf(node).reduce((total, child) => total + sum(child, value), value(node));

function canBeEmpty(node: Node): boolean {
  switch (node.kind) {
    case "empty":
    case "assert":
      return true;
    case "char":
    case "class":
    case "byte":
      return false;
    case "concat":
      return node.children.every(canBeEmpty);
    case "alternate":
      return node.children.some(canBeEmpty);
    case "repeat":
      return node.min === 0 || canBeEmpty(node.child);
  }
}

/** Returns the greatest number of successive parts that may all be absent. */
function optionalRun(node: Node): number {
  switch (node.kind) {
    case "concat": {
      let longest = 0;
      let current = 0;
      for (const child of node.children) {
        const run = optionalRun(child);
        current = canBeEmpty(child) ? current + run : 0;
        longest = Math.max(longest, run, current);
      }
      return longest;
    }
    case "alternate":
      return Math.max(...node.children.map(optionalRun));
    case "repeat": {
      const copies = node.max === Infinity ? 1 : node.max;
      const run = Math.max(optionalRun(node.child), 1);
      return canBeEmpty(node.child) ? copies * run : Math.max(copies - node.min, run);
    }
    case "empty":
    case "char":
    case "class":
    case "byte":
    case "assert":
      return 0;
  }
}

/** Returns whether a match may contain a newline, or may depend on where the text begins or ends. */
function seesOtherLines(node: Node): boolean {
  switch (node.kind) {
    case "char":
      return node.cp === 10;
    case "class":
      return includes(node.members, 10);
    case "byte":
      return true;
    case "assert":
      return node.assertion === "textStart" || node.assertion === "textEnd";
    case "empty":
    case "concat":
    case "alternate":
    case "repeat":
      return childrenOf(node).some(seesOtherLines);
  }
}
