/**
 * Converts sets of code points to sequences of byte ranges, and converts these sequences to small deterministic
 * graphs.
 *
 * As in RE2, a range from 0x80 (or below) to the last code point matches every sequence of the right form, including
 * overlong sequences. Any other range matches exactly the encodings of its members. A surrogate is encoded as three
 * bytes. No set matches a byte that is not part of a sequence.
 */

import { LAST, type CodePoints } from "./code-points.ts";
import { takeAll, type Steps } from "../base/steps.ts";

/** A sequence of byte ranges. It has the lowest and the highest value of each byte, in the order of the bytes. */
type Sequence = readonly number[];

const ANY_NON_ASCII: readonly Sequence[] = [
  [0xc2, 0xdf, 0x80, 0xbf],
  [0xe0, 0xef, 0x80, 0xbf, 0x80, 0xbf],
  [0xf0, 0xf4, 0x80, 0xbf, 0x80, 0xbf, 0x80, 0xbf],
];

const LENGTH_LIMITS = [0x7f, 0x7ff, 0xffff, LAST];

export function encodeCodePoint(cp: number): number[] {
  if (cp < 0x80) return [cp];
  const tail = (shift: number) => 0x80 | ((cp >> shift) & 0x3f);
  if (cp < 0x800) return [0xc0 | (cp >> 6), tail(0)];
  if (cp < 0x10000) return [0xe0 | (cp >> 12), tail(6), tail(0)];
  return [0xf0 | (cp >> 18), tail(12), tail(6), tail(0)];
}

function sequences(set: CodePoints): Sequence[] {
  const out: Sequence[] = [];
  for (let i = 0; i < set.length; i += 2) {
    const [lo, hi] = [set[i]!, set[i + 1]!];
    if (lo <= 0x80 && hi === LAST) {
      if (lo < 0x80) out.push([lo, 0x7f]);
      out.push(...ANY_NON_ASCII);
    } else addRange(out, lo, hi);
  }
  return out;
}

/** Returns the number of bytes in all sequences of a set. A range of bytes counts as one byte. */
export const sequenceBytes = (set: CodePoints): number =>
  sequences(set).reduce((total, sequence) => total + sequence.length / 2, 0);

/**
 * Splits a range of code points into parts, and adds one sequence for each part. Within a part, each byte of the
 * encodings takes all values of one range, independently of the other bytes.
 */
function addRange(out: Sequence[], lo: number, hi: number): void {
  const split = splitAfter(lo, hi);
  if (split !== undefined) {
    addRange(out, lo, split);
    addRange(out, split + 1, hi);
    return;
  }
  const high = encodeCodePoint(hi);
  out.push(encodeCodePoint(lo).flatMap((byte, i) => [byte, high[i]!]));
}

function splitAfter(lo: number, hi: number): number | undefined {
  for (const limit of LENGTH_LIMITS) if (lo <= limit && limit < hi) return limit;
  if (hi < 0x80) return undefined;
  for (let bits = 6; bits < 21; bits += 6) {
    const mask = (1 << bits) - 1;
    if ((lo & ~mask) === (hi & ~mask)) continue;
    if ((lo & mask) !== 0) return lo | mask;
    if ((hi & mask) !== mask) return (hi & ~mask) - 1;
  }
  return undefined;
}

/**
 * The edges of a node, as a flat list: lo, hi, target, lo, hi, target, …. They are sorted and disjoint. The target -1
 * means that the encoding of a member ends.
 */
export type Edges = readonly number[];

/**
 * The edges of each node of a graph. Node 0 is the root. The bytes of a member lead from the root to the target -1.
 */
export type ByteGraph = readonly Edges[];

const GRAPHS_KEPT = 100;
const graphs = new Map<string, ByteGraph>();

/** Returns the smallest graph of the sequences of a set. If `backwards` is true, the sequences are reversed first. */
export function byteGraph(set: CodePoints, backwards: boolean): ByteGraph {
  return takeAll(byteGraphSteps(set, backwards));
}

/**
 * Builds the graph in steps of a fraction of a millisecond. For the class of all letters (`\p{L}`), all steps together
 * take about 30 ms.
 */
export function* byteGraphSteps(set: CodePoints, backwards: boolean): Steps<ByteGraph> {
  const key = `${backwards}${set.join()}`;
  let graph = graphs.get(key);
  if (graph) return graph;
  const all: Sequence[] = [];
  for (let i = 0; i < set.length; i += RANGES_A_STEP) {
    const some = sequences(set.slice(i, i + RANGES_A_STEP));
    for (const sequence of some) all.push(backwards ? reversed(sequence) : sequence);
    yield;
  }
  graph = yield* build(all);
  if (graphs.size >= GRAPHS_KEPT) graphs.clear();
  graphs.set(key, graph);
  return graph;
}

/** The number of numbers of a set that one step processes. Each range of a set consists of two numbers. */
const RANGES_A_STEP = 64;

function reversed(sequence: Sequence): Sequence {
  const out: number[] = [];
  for (let i = sequence.length - 2; i >= 0; i -= 2) out.push(sequence[i]!, sequence[i + 1]!);
  return out;
}

function* build(all: readonly Sequence[]): Steps<ByteGraph> {
  const rests = new Rests();
  const nodes: Edges[] = [[]];
  const byContent = new Map<string, number>();
  const byRests = new Map<string, number>();

  const add = (edges: Edges): number => {
    const key = edges.join();
    let node = byContent.get(key);
    if (node === undefined) byContent.set(key, (node = nodes.push(edges) - 1));
    return node;
  };
  function* nodeOf(list: readonly number[]): Steps<number> {
    if (list[0] === END) return END;
    const key = list.join();
    let node = byRests.get(key);
    if (node === undefined) byRests.set(key, (node = add(yield* edgesOf(list))));
    return node;
  }
  function* edgesOf(list: readonly number[]): Steps<Edges> {
    const edges: number[] = [];
    for (const [lo, hi, after] of rests.splitByFirst(list)) {
      const target = yield* nodeOf(after);
      yield;
      const last = edges.length - 3;
      if (last >= 0 && edges[last + 1] === lo - 1 && edges[last + 2] === target)
        edges[last + 1] = hi;
      else edges.push(lo, hi, target);
    }
    return edges;
  }
  const numbers: number[] = [];
  for (const sequence of all) if (numbers.push(rests.number(sequence)) % RANGES_A_STEP === 0) yield;
  if (numbers.length > 0) nodes[0] = yield* edgesOf(numbers);
  return nodes;
}

const END = -1;

/**
 * Gives each tail of a byte sequence a number. Equal tails of different sequences get the same number. The number END
 * stands for the empty tail.
 */
class Rests {
  readonly #lo: number[] = [];
  readonly #hi: number[] = [];
  readonly #next: number[] = [];
  readonly #numbers = new Map<number, number>();

  number(sequence: Sequence): number {
    let rest = END;
    for (let i = sequence.length - 2; i >= 0; i -= 2) {
      const key = ((rest + 1) * 256 + sequence[i]!) * 256 + sequence[i + 1]!;
      let number = this.#numbers.get(key);
      if (number === undefined) {
        this.#lo.push(sequence[i]!);
        this.#hi.push(sequence[i + 1]!);
        number = this.#next.push(rest) - 1;
        this.#numbers.set(key, number);
      }
      rest = number;
    }
    return rest;
  }

  /**
   * Divides the first bytes of sequences into disjoint ranges. Returns each range with the tails of those
   * sequences that can begin with a byte of the range. For each sequence, this looks up the ranges that its first
   * byte covers, which is nearly always one range. Examining all sequences for each range would take a hundred times
   * as long.
   */
  splitByFirst(list: readonly number[]): [number, number, number[]][] {
    const edges = new Uint8Array(257);
    for (const rest of list) edges[this.#lo[rest]!] = edges[this.#hi[rest]! + 1] = 1;
    const after: (Set<number> | undefined)[] = [];
    for (const rest of list)
      for (let lo = this.#lo[rest]!; lo <= this.#hi[rest]!; lo++)
        if (edges[lo] === 1) (after[lo] ??= new Set()).add(this.#next[rest]!);
    const out: [number, number, number[]][] = [];
    for (let lo = 0; lo < 256;) {
      let end = lo + 1;
      while (end < 256 && edges[end] === 0) end++;
      const own = after[lo];
      if (own) out.push([lo, end - 1, [...own]]);
      lo = end;
    }
    return out;
  }
}

/**
 * Returns the number of bytes to skip after an empty match. This is the length of the character at `at`, or 1 if no
 * valid character begins there.
 */
export function characterWidth(bytes: Uint8Array, at: number, end: number): number {
  const lead = bytes[at]!;
  const width = lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 1;
  if (width === 1 || at + width > end) return 1;
  for (let i = 1; i < width; i++) if ((bytes[at + i]! & 0xc0) !== 0x80) return 1;
  const second = bytes[at + 1]!;
  const isOverlong = (lead === 0xe0 && second < 0xa0) || (lead === 0xf0 && second < 0x90);
  return isOverlong || (lead === 0xf4 && second > 0x8f) ? 1 : width;
}
