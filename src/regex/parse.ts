/**
 * Parses RE2's syntax to a syntax tree, without recursion, in time linear in the length of the pattern. Errors have
 * RE2's messages. The parser also accepts expressions that are too large for RE2. expression.ts rejects these
 * expressions, with limits below those of RE2.
 *
 * The meaning of a pattern follows RE2's parser in all details. A flag group is not an operand, so `a(?i)*` repeats
 * the a. A `{` that does not begin a repetition is an ordinary character. A repetition directly after another one is
 * an error, and (?:x*)+ means x*.
 */

import type { QuernError } from "../base/errors.ts";
import { orbit } from "../kernel/folding.ts";
import { EMPTY, NESTING_LIMIT, type Assertion, type Node } from "./ast.ts";
import { EVERYTHING, normalize, union, type CodePoints } from "./code-points.ts";
import { namedClassAt, parseClass } from "./parse-class.ts";
import { PatternReader } from "./pattern-reader.ts";

/** The flags, as bits. A pattern can change flags, as (?i) does. */
const FOLD = 1;
const LINES = 2; // ^ and $ match at line ends
const DOT_ALL = 4;
const UNGREEDY = 8;
const FLAG_LETTERS: Readonly<Record<string, number>> = {
  i: FOLD,
  m: LINES,
  s: DOT_ALL,
  U: UNGREEDY,
};

const NOT_NEWLINE: CodePoints = [0, 9, 11, 0x10ffff];
const REPETITION_LIMIT = 1_000; // RE2's limit, both for one count and for the product of nested counts

type Operator = "*" | "+" | "?";

interface Count {
  readonly min: number;
  readonly max: number; // Infinity if unbounded
}

/** An operand, with the properties on which a repetition of it depends. */
interface Item {
  readonly node: Node;
  readonly loop?: Loop | undefined; // the loop that the node becomes when counts are written out, if it becomes one
  readonly merges?: Loop | undefined; // the loop as it was written, if RE2 knows while parsing that the node is a loop
  readonly expansion: number; // the product of nested counts
  readonly isCapture?: boolean;
}

/** A repetition by an operator. If another operator with the same flags follows, RE2 makes one loop of the two. */
interface Loop {
  readonly operator: Operator;
  readonly flags: number;
  readonly child: Node;
}

interface Group {
  readonly open: number; // the position of its parenthesis; -1 for the whole pattern
  readonly captures: boolean;
  readonly outerFlags: number;
  readonly alternatives: Item[];
  items: Item[];
}

export function parseExpression(source: string, options: { caseSensitive: boolean }): Node {
  return new Parser(source, LINES | (options.caseSensitive ? 0 : FOLD)).parse();
}

class Parser {
  readonly #in: PatternReader;
  readonly #groups: Group[] = [];
  #group: Group;
  #flags: number;
  #lastRepetition = -1; // where the preceding repetitions start; -1 if there are none

  constructor(source: string, flags: number) {
    this.#in = new PatternReader(source);
    this.#flags = flags;
    this.#group = newGroup(-1, false, flags);
  }

  parse(): Node {
    while (!this.#in.done) {
      const start = this.#in.at;
      const isRepetition = this.#token();
      this.#lastRepetition = isRepetition
        ? this.#lastRepetition < 0
          ? start
          : this.#lastRepetition
        : -1;
    }
    if (this.#groups.length > 0) throw this.#in.syntax("missing )", this.#group.open);
    return closeGroup(this.#group).node;
  }

  /** Reads one token. Returns whether it was a repetition. */
  #token(): boolean {
    const start = this.#in.at;
    const char = this.#in.next();
    switch (char) {
      case "(":
        this.#open(start);
        return false;
      case ")":
        this.#close(start);
        return false;
      case "|":
        this.#group.alternatives.push(concat(this.#group.items));
        this.#group.items = [];
        return false;
      case "*":
      case "+":
      case "?":
        this.#repeat(start, char);
        return true;
      case "{":
        return this.#count(start);
      default:
        this.#operand(char, start);
        return false;
    }
  }

  #operand(char: string, start: number): void {
    switch (char) {
      case "^":
        return this.#assert(this.#flags & LINES ? "lineStart" : "textStart");
      case "$":
        return this.#assert(this.#flags & LINES ? "lineEnd" : "textEnd");
      case ".":
        return this.#class(this.#flags & DOT_ALL ? EVERYTHING : NOT_NEWLINE);
      case "[":
        return this.#class(parseClass(this.#in, start, (this.#flags & FOLD) !== 0));
      case "\\":
        return this.#escape(start);
      default:
        this.#char(char.codePointAt(0)!);
    }
  }

  #escape(start: number): void {
    const named = namedClassAt(this.#in, start, (this.#flags & FOLD) !== 0);
    if (named) return this.#class(named);
    switch (this.#in.peek()) {
      case "b":
        return this.#assert("wordBoundary", 1);
      case "B":
        return this.#assert("notWordBoundary", 1);
      case "A":
        return this.#assert("textStart", 1);
      case "z":
        return this.#assert("textEnd", 1);
      case "C":
        this.#in.at++;
        return this.#push({ kind: "byte" });
      case "Q":
        this.#in.at++;
        return this.#quoted();
      default:
        this.#char(this.#in.escape(start));
    }
  }

  #quoted(): void {
    while (!this.#in.done) {
      if (this.#in.take("\\E")) return;
      this.#char(this.#in.next().codePointAt(0)!);
    }
  }

  #assert(assertion: Assertion, skip = 0): void {
    this.#in.at += skip;
    this.#push({ kind: "assert", assertion });
  }

  #class(members: CodePoints): void {
    this.#push({ kind: "class", members });
  }

  #char(cp: number): void {
    const folded = this.#flags & FOLD ? orbit(cp) : [cp];
    if (folded.length === 1) this.#push({ kind: "char", cp });
    else this.#class(normalize(folded.flatMap((relative) => [relative, relative])));
  }

  #push(node: Node): void {
    this.#group.items.push({ node, expansion: 1 });
  }

  #open(start: number): void {
    if (this.#in.peek() !== "?") return this.#enter(start, true, this.#flags);
    this.#in.at++;
    // at the very end of a pattern, RE2 takes "P<" for flags and rejects them
    const isAtEnd = this.#in.source.length === this.#in.at + 2;
    if (!isAtEnd && this.#in.take("P<")) return this.#openNamed(start);
    for (const look of ["=", "!", "<=", "<!"])
      if (this.#in.take(look))
        throw this.#in.syntax(
          `look-around is not supported: ${this.#in.source.slice(start, this.#in.at)}`,
          start,
        );
    this.#openFlags(start);
  }

  #openNamed(start: number): void {
    const end = this.#in.source.indexOf(">", this.#in.at);
    const name = end < 0 ? "" : this.#in.source.slice(this.#in.at, end);
    if (!/^\w+$/.test(name))
      throw this.#in.syntax(
        `invalid named capture group: ${this.#in.source.slice(start, end < 0 ? undefined : end + 1)}`,
        start,
      );
    this.#in.at = end + 1;
    this.#enter(start, true, this.#flags);
  }

  #openFlags(start: number): void {
    let flags = this.#flags;
    let negated = false;
    let some = true; // false after a minus until a letter follows
    for (;;) {
      const char = this.#in.done ? "" : this.#in.next();
      const bit = FLAG_LETTERS[char];
      if (bit !== undefined) {
        flags = negated ? flags & ~bit : flags | bit;
        some = true;
      } else if (char === "-" && !negated) {
        negated = true;
        some = false;
      } else if ((char === ":" || char === ")") && some) {
        if (char === ":") this.#enter(start, false, this.#flags);
        this.#flags = flags;
        return;
      } else {
        const operator = this.#in.source.slice(start, this.#in.at);
        if (operator === "(?P" && this.#in.take("="))
          throw this.#in.syntax(`back-references are not supported: ${operator}=`, start);
        throw this.#in.syntax(`invalid perl operator: ${operator}`, start);
      }
    }
  }

  #enter(open: number, captures: boolean, outerFlags: number): void {
    if (this.#groups.length >= NESTING_LIMIT)
      throw this.#in.tooLarge(`groups are nested deeper than ${NESTING_LIMIT}`, open);
    this.#groups.push(this.#group);
    this.#group = newGroup(open, captures, outerFlags);
  }

  #close(start: number): void {
    const outer = this.#groups.pop();
    if (!outer) throw this.#in.syntax("unexpected )", start);
    const item = closeGroup(this.#group);
    this.#flags = this.#group.outerFlags;
    this.#group = outer;
    outer.items.push(item);
  }

  #count(start: number): boolean {
    const found = /^(0|[1-9]\d{0,8})(,(0|[1-9]\d{0,8})?)?\}/.exec(
      this.#in.source.slice(start + 1, start + 22),
    );
    const [text, low, comma, high] = found ?? [];
    if (text === undefined || Number(low) >= 1e8 || Number(high ?? 0) >= 1e8) {
      this.#char("{".codePointAt(0)!);
      return false;
    }
    this.#in.at += text.length;
    const min = Number(low);
    const max = comma === undefined ? min : high === undefined ? Infinity : Number(high);
    this.#repeat(start, { min, max });
    return true;
  }

  #repeat(start: number, by: Operator | Count): void {
    const lazy = this.#in.take("?");
    const text = (from: number) => this.#in.source.slice(from, this.#in.at);
    if (this.#lastRepetition >= 0)
      throw this.#in.syntax(
        `bad repetition operator: ${text(this.#lastRepetition)}`,
        this.#lastRepetition,
      );
    const flags = lazy ? this.#flags ^ UNGREEDY : this.#flags;
    if (typeof by !== "string") this.#mustBeWithinLimit(by, start);
    const operand = this.#group.items.pop();
    if (!operand)
      throw this.#in.syntax(`no argument for repetition operator: ${text(start)}`, start);
    const repeated =
      typeof by === "string" ? repeatBy(operand, by, flags) : repeatCounted(operand, by, flags);
    if (repeated.expansion > REPETITION_LIMIT)
      throw this.#invalidSize(
        text(start),
        start,
        `nested counts multiply to at most ${REPETITION_LIMIT}`,
      );
    this.#group.items.push(repeated);
  }

  #mustBeWithinLimit({ min, max }: Count, start: number): void {
    const text = this.#in.source.slice(start, this.#in.at);
    const isOver = min > REPETITION_LIMIT || (max !== Infinity && max > REPETITION_LIMIT);
    if (isOver) throw this.#invalidSize(text, start, `a count is at most ${REPETITION_LIMIT}`);
    if (min > max) throw this.#invalidSize(text, start, "the first count exceeds the second");
  }

  #invalidSize(text: string, start: number, why: string): QuernError {
    return this.#in.syntax(`invalid repetition size: ${text}: ${why}`, start);
  }
}

function newGroup(open: number, captures: boolean, outerFlags: number): Group {
  return { open, captures, outerFlags, alternatives: [], items: [] };
}

function closeGroup(group: Group): Item {
  const item = alternate([...group.alternatives, concat(group.items)]);
  if (!group.captures) return item;
  return { node: item.node, expansion: item.expansion, isCapture: true };
}

const largest = (items: readonly Item[]) =>
  items.reduce((most, { expansion }) => Math.max(most, expansion), 1);

function concat(items: readonly Item[]): Item {
  if (items.length === 1) return items[0]!;
  const children = items.map((item) => item.node).filter((node) => node.kind !== "empty");
  const node: Node = children.length === 0 ? EMPTY : { kind: "concat", children };
  return { node, expansion: largest(items) };
}

/**
 * Merges neighbouring alternatives into one class if each of them is one character and is not captured. RE2 does the
 * same. If a range of the merged class ends at the last code point, the class also matches overlong forms, as in RE2
 * (see utf8.ts).
 */
function alternate(items: readonly Item[]): Item {
  if (items.length === 1) return items[0]!;
  const children: Node[] = [];
  let last: CodePoints | undefined; // the members of the previous alternative, if it is one character
  for (const { node, isCapture } of items) {
    const own = isCapture ? undefined : characters(node);
    const merged = last && own && union(last, own);
    if (merged) children[children.length - 1] = { kind: "class", members: merged };
    else children.push(node);
    last = merged ?? own;
  }
  const node: Node = children.length === 1 ? children[0]! : { kind: "alternate", children };
  return { node, expansion: largest(items) };
}

const characters = (node: Node): CodePoints | undefined =>
  node.kind === "char" ? [node.cp, node.cp] : node.kind === "class" ? node.members : undefined;

function repeatBy(item: Item, operator: Operator, flags: number): Item {
  const { expansion } = item;
  if (item.merges?.flags === flags) {
    if (item.merges.operator === operator) return item;
    const merges: Loop = { ...item.merges, operator: "*" };
    return { node: nodeOf(merges), loop: merges, merges, expansion };
  }
  const merges: Loop = { operator, flags, child: item.node };
  // after parsing, x{1,} is x+, and a loop over the same loop is dropped
  const isSame = item.loop?.operator === operator && item.loop.flags === flags;
  const loop = isSame ? item.loop : merges;
  return { node: nodeOf(loop), loop, merges, expansion };
}

function repeatCounted(item: Item, { min, max }: Count, flags: number): Item {
  const { node: child } = item;
  const expansion = item.expansion * Math.max(max === Infinity ? min : max, 1);
  if (child.kind === "empty" || max === 0) return { node: EMPTY, expansion };
  if (max === 1 && min === 1) return { node: child, loop: item.loop, expansion };
  const greedy = isGreedy(flags);
  if (min === max) return { node: { kind: "repeat", child, min, max, greedy }, expansion };

  const final = mergeLoop(item, max !== Infinity ? "?" : min === 0 ? "*" : "+", flags);
  const last = nodeOf(final);
  if (max === Infinity ? min <= 1 : max === 1) return { node: last, loop: final, expansion };
  const count = { kind: "repeat", child, greedy, ...(final.child !== child && { last }) } as const;
  const node: Node = { ...count, min, max };
  if (min > 0) return { node, expansion };
  const rest: Node = { ...count, min, max: max - 1 };
  const copies: Node = { kind: "concat", children: [child, max === 2 ? last : rest] };
  return { node, loop: { operator: "?", flags, child: copies }, expansion };
}

/**
 * Applies an operator in the same way as RE2 does when it writes out counts. If the operand is a loop with the same
 * flags, the two operators become one.
 */
function mergeLoop({ node, loop }: Item, operator: Operator, flags: number): Loop {
  if (loop?.flags !== flags) return { operator, flags, child: node };
  return loop.operator === operator ? loop : { ...loop, operator: "*" };
}

function nodeOf({ operator, flags, child }: Loop): Node {
  if (child.kind === "empty") return EMPTY;
  const [min, max] = operator === "*" ? [0, Infinity] : operator === "+" ? [1, Infinity] : [0, 1];
  return { kind: "repeat", child, min, max, greedy: isGreedy(flags) };
}

const isGreedy = (flags: number): boolean => (flags & UNGREEDY) === 0;
