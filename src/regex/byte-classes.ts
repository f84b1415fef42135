/**
 * Divides bytes into classes, so that no node and no assertion of a program distinguishes bytes of the same class.
 */

import { ASSERT, ASSERTIONS, type Program } from "./program.ts";
import { takeAll, type Steps } from "../base/steps.ts";
import type { ByteGraph, Edges } from "./utf8.ts";

/** The kinds of neighbours that assertions distinguish. A neighbour is a byte, or the edge of the text. */
const EDGE = 0;
const NEWLINE = 1;
const WORD = 2;
const OTHER = 3;

export interface ByteClasses {
  readonly of: Uint8Array; // the class of each byte
  readonly count: number; // the number of byte classes; the edge of the text is class number `count`
  readonly byte: readonly number[]; // one byte of each class
  readonly kind: Uint8Array; // the kind of each byte, EDGE … OTHER, as far as the program's assertions need it
  readonly edgeKind: number;
}

/**
 * Returns whether an assertion is true. `assertion` is the assertion's number in ASSERTIONS. `left` and `right` are
 * the kinds of the neighbours.
 */
export function holds(assertion: number, [left, right]: readonly [number, number]): boolean {
  switch (ASSERTIONS[assertion]!) {
    case "lineStart":
      return left === EDGE || left === NEWLINE;
    case "lineEnd":
      return right === EDGE || right === NEWLINE;
    case "textStart":
      return left === EDGE;
    case "textEnd":
      return right === EDGE;
    case "wordBoundary":
      return (left === WORD) !== (right === WORD);
    case "notWordBoundary":
      return (left === WORD) === (right === WORD);
  }
}

export function isWord(byte: number): boolean {
  return /\w/.test(String.fromCharCode(byte)) && byte < 0x80;
}

export function byteClasses(programs: readonly Program[]): ByteClasses {
  const asked = new Set<string>();
  for (const { operations, y } of programs)
    for (const [node, operation] of operations.entries())
      if (operation === ASSERT) asked.add(ASSERTIONS[y[node]!]!);
  const asksLines = asked.has("lineStart") || asked.has("lineEnd");
  const asksWords = asked.has("wordBoundary") || asked.has("notWordBoundary");
  const asksEdges = asksLines || asked.has("textStart") || asked.has("textEnd");
  const kind = new Uint8Array(256).map((_, byte) =>
    asksLines && byte === 10 ? NEWLINE : asksWords && isWord(byte) ? WORD : OTHER,
  );
  let of = new Uint8Array(kind);
  const lone = programs.flatMap((program) => [...program.lone]);
  for (const edges of distinct(lone)) of = refine(of, edges);
  for (const graph of new Set(programs.flatMap(({ graphs }) => [...graphs])))
    of = meet(of, partitionOf(graph));
  const byte: number[] = [];
  of = renumber(of, byte);
  return { of, count: byte.length, byte, kind, edgeKind: asksEdges ? EDGE : OTHER };
}

/** For each byte, the number of its class. No node of the graph distinguishes bytes of the same class. */
type Partition = Uint8Array<ArrayBuffer>;

const partitions = new WeakMap<ByteGraph, Partition>();

const partitionOf = (graph: ByteGraph): Partition => takeAll(partitionSteps(graph));

/**
 * Computes the classes of a graph in steps of a fraction of a millisecond. For the class of all letters (`\p{L}`), all
 * steps together take about 10 ms.
 */
export function* partitionSteps(graph: ByteGraph): Steps<Partition> {
  const known = partitions.get(graph);
  if (known) return known;
  const seen = new Set<string>();
  let of: Partition = new Uint8Array(256);
  for (let i = 0; i < graph.length; i += NODES_A_STEP) {
    for (const edges of distinct(graph.slice(i, i + NODES_A_STEP), seen)) of = refine(of, edges);
    yield;
  }
  partitions.set(graph, of);
  return of;
}

const NODES_A_STEP = 16;

/**
 * Yields each distinct list of edges once, with its targets renumbered. A long literal has thousands of nodes, but only
 * about thirty such lists.
 */
function* distinct(nodes: readonly Edges[], seen = new Set<string>()): Generator<number[]> {
  for (const edges of nodes) {
    const local = withLocalTargets(edges);
    const key = local.join();
    if (seen.has(key)) continue;
    seen.add(key);
    yield local;
  }
}

/** Renumbers the targets in the order in which they occur. Which nodes the targets are does not matter to refine(). */
function withLocalTargets(edges: Edges): number[] {
  const targets = new Map<number, number>();
  return edges.map((n, i) =>
    i % 3 < 2 ? n : (targets.get(n) ?? targets.set(n, targets.size).size - 1),
  );
}

/**
 * Refines a partition, so that bytes whose edges have different targets are in different classes. This uses a table
 * instead of a map, because a Unicode class needs about 500 refinements. REQUIRES: targets are below 256.
 */
function refine(of: Uint8Array, edges: readonly number[]): Partition {
  const column = new Uint16Array(256); // 0: no edge
  for (let i = 0; i < edges.length; i += 3)
    column.fill(edges[i + 2]! + 1, edges[i], edges[i + 1]! + 1);
  return meet(of, column);
}

/**
 * Intersects two partitions. In the result, two bytes are in the same class exactly if they are in the same class in
 * both partitions.
 */
function meet(of: Uint8Array, column: Uint8Array | Uint16Array): Partition {
  let columns = 1;
  for (let byte = 0; byte < 256; byte++) columns = Math.max(columns, column[byte]! + 1);
  const numbers = new Uint16Array(columns * 256); // classes count from 1
  const out = new Uint8Array(256);
  let count = 0;
  for (let byte = 0; byte < 256; byte++) {
    const key = of[byte]! * columns + column[byte]!;
    numbers[key] ||= ++count;
    out[byte] = numbers[key] - 1;
  }
  return out;
}

function renumber(of: Uint8Array, byte: number[]): Partition {
  const numbers = new Map<number, number>();
  return Uint8Array.from(of, (old, b) => {
    if (!numbers.has(old)) {
      numbers.set(old, byte.length);
      byte.push(b);
    }
    return numbers.get(old)!;
  });
}
