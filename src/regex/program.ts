/**
 * Compiles an expression to a program, which is a non-deterministic automaton over bytes. A program runs forwards or
 * backwards. Its nodes are numbers. The first target of a split has priority over the second. Between two bytes, a
 * walk follows splits and assertions. As in RE2, such a walk visits each node at most once. This determines the
 * meaning of empty loops.
 *
 * A backward program reads a text from right to left. Assertions have the same meaning in the text as in a forward
 * program. For a backward program, only the set of matching texts matters, and priorities do not.
 */

import { firstIndex } from "../base/binary-search.ts";
import type { Assertion, Node } from "./ast.ts";
import { byteGraph, encodeCodePoint, type ByteGraph, type Edges } from "./utf8.ts";

export const MATCH = 0; // ends a match; only node 0 does this
export const SPLIT = 1; // continues with x, or with y at lower priority
export const ASSERT = 2; // continues with x if ASSERTIONS[y] is true
export const BYTES = 3; // reads one byte along edges[node]; a target t means node x + t, and the target -1 means node y

export const ASSERTIONS: readonly Assertion[] = [
  "lineStart",
  "lineEnd",
  "textStart",
  "textEnd",
  "wordBoundary",
  "notWordBoundary",
];

/** The maximum number of nodes of an expression. RE2's own limit is about 90 000. */
export const NODE_LIMIT = 50_000;

export interface Program {
  readonly operations: readonly number[];
  readonly x: readonly number[];
  readonly y: readonly number[];
  readonly edges: readonly Edges[]; // the edges of BYTES nodes; copies of a repeated class share them
  readonly start: number;
  /** The graphs from which edges come. */
  readonly graphs: ReadonlySet<ByteGraph>;
  /** The edges of single nodes, which come from no graph. */
  readonly lone: ReadonlySet<Edges>;
}

/**
 * Compiles an expression. If `searches` is true, a match may begin anywhere, and the leftmost match has priority.
 * REQUIRES: countNodes(node) <= NODE_LIMIT.
 */
export function compileProgram(
  node: Node,
  options: { backwards: boolean; searches: boolean },
): Program {
  const builder = new Builder(options.backwards);
  const match = builder.add(MATCH, 0, 0);
  let start = builder.compile(node, match);
  if (options.searches) {
    const loop = builder.add(SPLIT, start, 0);
    builder.y[loop] = builder.bytes(ANY_BYTE, loop);
    start = loop;
  }
  const { operations, x, y, edges, graphs, lone } = builder;
  return { operations, x, y, edges, start, graphs, lone };
}

/** Returns the node to which a byte leads from `node`, or -1 if `node` does not read this byte. */
export function targetOf({ operations, x, y, edges }: Program, node: number, byte: number): number {
  if (operations[node] !== BYTES) return -1;
  const list = edges[node]!;
  const low = firstIndex(0, list.length / 3, (edge) => list[3 * edge + 1]! >= byte);
  if (3 * low >= list.length || list[3 * low]! > byte) return -1;
  const target = list[3 * low + 2]!;
  return target < 0 ? y[node]! : x[node]! + target;
}

/**
 * Estimates the number of nodes in an expression's forward program or in its backward program, whichever is larger.
 */
export function countNodes(node: Node): number {
  switch (node.kind) {
    case "empty":
      return 0;
    case "char":
    case "byte":
    case "assert":
      return node.kind === "char" ? encodeCodePoint(node.cp).length : 1;
    case "class":
      return Math.max(byteGraph(node.members, false).length, byteGraph(node.members, true).length);
    case "concat":
    case "alternate":
      return node.children.reduce((total, child) => total + countNodes(child) + 1, 0);
    case "repeat": {
      const { min, max } = node;
      return (countNodes(node.child) + 1) * (max === Infinity ? Math.max(min, 1) : max) + 2;
    }
  }
}

const NO_EDGES: Edges = [];
const ANY_BYTE: Edges = [0, 255, -1];
const ONE_BYTE: readonly Edges[] = Array.from({ length: 256 }, (_, byte) => [byte, byte, -1]);

class Builder {
  readonly operations: number[] = [];
  readonly x: number[] = [];
  readonly y: number[] = [];
  readonly edges: Edges[] = [];
  readonly graphs = new Set<ByteGraph>();
  readonly lone = new Set<Edges>();
  readonly #backwards: boolean;

  constructor(backwards: boolean) {
    this.#backwards = backwards;
  }

  add(operation: number, x: number, y: number): number {
    this.x.push(x);
    this.y.push(y);
    this.edges.push(NO_EDGES);
    return this.operations.push(operation) - 1;
  }

  /** Adds a single node whose edges all lead to `next`. */
  bytes(edges: Edges, next: number): number {
    this.lone.add(edges);
    return this.#bytes(edges, 0, next);
  }

  #bytes(edges: Edges, first: number, next: number): number {
    const node = this.add(BYTES, first, next);
    this.edges[node] = edges;
    return node;
  }

  /** Adds nodes that match `node` and then continue with `next`. Returns the node at which they begin. */
  compile(node: Node, next: number): number {
    switch (node.kind) {
      case "empty":
        return next;
      case "char":
        return this.#char(node.cp, next);
      case "class":
        return this.#graph(byteGraph(node.members, this.#backwards), next);
      case "byte":
        return this.bytes(ANY_BYTE, next);
      case "assert":
        return this.add(ASSERT, next, ASSERTIONS.indexOf(node.assertion));
      case "concat": {
        const children = this.#backwards ? node.children : node.children.toReversed();
        return children.reduce((after, child) => this.compile(child, after), next);
      }
      case "alternate":
        return node.children
          .map((child) => this.compile(child, next))
          .reduceRight((rest, first) => this.add(SPLIT, first, rest));
      case "repeat":
        return this.#repeat(node, next);
    }
  }

  #char(cp: number, next: number): number {
    const bytes = encodeCodePoint(cp);
    if (!this.#backwards) bytes.reverse();
    return bytes.reduce((after, byte) => this.bytes(ONE_BYTE[byte]!, after), next);
  }

  #graph(graph: ByteGraph, next: number): number {
    const first = this.operations.length;
    for (const edges of graph) this.#bytes(edges, first, next);
    this.graphs.add(graph);
    return first;
  }

  #repeat(node: Node & { kind: "repeat" }, next: number): number {
    const { child, min, max, greedy, last } = node;
    let entry = last ? this.compile(last, next) : next;
    let copies = min;
    if (max !== Infinity) {
      // x{2,4} is xx(x(x)?)?; with a replaced last copy it is xx(x(last))?
      const inner = last ? min + 1 : min;
      for (let i = inner; i < max; i++)
        entry = this.#split(this.compile(child, entry), next, greedy);
    } else if (last) {
      copies = Math.max(min - 1, 0);
    } else {
      const loop = this.add(SPLIT, 0, 0);
      const body = this.compile(child, loop);
      this.x[loop] = greedy ? body : next;
      this.y[loop] = greedy ? next : body;
      entry = min === 0 ? loop : body; // x{3,} is xxx+
      copies = Math.max(min - 1, 0);
    }
    for (let i = 0; i < copies; i++) entry = this.compile(child, entry);
    return entry;
  }

  #split(body: number, out: number, greedy: boolean): number {
    return greedy ? this.add(SPLIT, body, out) : this.add(SPLIT, out, body);
  }
}
