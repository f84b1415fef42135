/**
 * All matches of a text in time linear in its length, whatever the expression. The automaton runs on
 * behind a match until no better one can follow, and then begins anew at the match's end: `x*y|x` reads
 * a text of x to its end for each of its matches. Here a first pass runs backwards over the text and
 * learns, for each place, which nodes of the program read the byte there and can still come to a match.
 * The second runs forwards and takes, at every split, the first branch that can: the leftmost match, and
 * of those the preferred one, without ever turning back.
 *
 * Some 10 MB/s: only for texts on which the automaton has read much in vain (automaton.ts says when). What a
 * place knows is one of a few states that are built once. The states of all places of a text would be as
 * many as its bytes at worst, so they are kept for a block of it, and the first pass leaves one a block
 * from which the block's are made again: 30 MiB for the largest expressions, a few for others.
 */

import { emptyBitset, hasBit, setBit, type Bitset } from "../base/bitset.ts";
import { holds, type ByteClasses } from "./byte-classes.ts";
import { ASSERT, BYTES, MATCH, SPLIT, targetOf, type Program } from "./program.ts";
import type { Span } from "./iterate.ts";

const BLOCK = 4096; // places
/** Bytes of states that are kept from one block to the next. */
const HELD = 4 * 1024 * 1024;
/** Nodes visited and bytes read between two looks at the budget: some milliseconds. */
const WORK = 200_000;

/** What is known of a place: it depends on the text behind it only. */
interface Known {
  /** Nodes that read the byte behind the place and can then come to a match. */
  readonly readers: Bitset;
  readonly after: number; // kind of that byte
}

/** The same with what has been worked out from it; numbers are of states held now. */
interface State extends Known {
  /**
   * By class of the byte before the place, the text's edge last: 2 × state of the place before + whether
   * a match can begin here; -1: not known.
   */
  readonly before: Int32Array;
  /** By 4 × node + kind of the byte before: the first node that the walk from it may go on with. */
  choices: Map<number, number> | undefined; // the first pass needs none
}

export class TwoPass {
  readonly #program: Program;
  readonly #classes: ByteClasses;
  readonly #entry: number;
  /** Nodes that lead to a node without a byte, those of node n at [from[n], from[n + 1]). */
  readonly #sources: { readonly from: Int32Array; readonly nodes: Int32Array };
  #bytes!: Uint8Array;
  #text!: Span;
  #first = 0; // place from which matches are looked for
  #budget: (() => boolean) | undefined;
  #states: State[] = [];
  #numbers = new Map<string, number>();
  /** Of the block at hand: 2 × state + whether a match can begin, of the places [start, start + BLOCK]. */
  readonly #places = new Int32Array(BLOCK + 1);
  #blockStart = -1;
  /** What is known at the ends of the blocks, the first block's first. */
  #ends: readonly Known[] = [];
  #work = 0;
  stopped = false;

  /** REQUIRES: a program that runs forwards and searches; classes of at least that program. */
  constructor(program: Program, classes: ByteClasses) {
    this.#program = program;
    this.#classes = classes;
    this.#entry = program.x[program.start]!; // behind the split that lets a match begin anywhere
    this.#sources = sourcesOf(program);
  }

  /** Makes the first pass over a text, down to the place `first`. Here and in find() `stopped` is set when the budget says so. */
  begin(bytes: Uint8Array, text: Span & { readonly first: number }, budget?: () => boolean): void {
    this.#bytes = bytes;
    this.#text = text;
    this.#first = text.first;
    this.#budget = budget;
    this.#blockStart = -1;
    this.stopped = false;
    this.#ends = this.#learn();
  }

  /** The leftmost match that begins at or after `from`. REQUIRES: `from` is not before `first`, nor before the last call's. */
  find(from: number): Span | undefined {
    for (let start = from; start <= this.#text.end && !this.stopped; start++) {
      const place = this.#place(start);
      if (this.stopped) break;
      if (place & 1) {
        const end = this.#follow(start);
        return end === undefined ? undefined : { start, end };
      }
    }
    return undefined;
  }

  /** The end of the match that begins at `start`; undefined: stopped. */
  #follow(start: number): number | undefined {
    const { operations } = this.#program;
    let node = this.#choose(this.#entry, start);
    let at = start;
    while (operations[node] !== MATCH) {
      const target = targetOf(this.#program, node, this.#bytes[at]!);
      at++;
      node = this.#choose(target, at);
      if (this.stopped) return undefined;
    }
    return at;
  }

  /** The first node, in order of priority, that the walk from `node` may go on with: one that reads, or the match. */
  #choose(node: number, at: number): number {
    const place = this.#place(at);
    if (this.stopped) return node;
    const state = this.#states[place >>> 1]!; // of the block that #place() has just made
    const before = this.#kindBefore(at);
    const key = 4 * node + before;
    const choices = (state.choices ??= new Map());
    let choice = choices.get(key);
    if (choice === undefined) choices.set(key, (choice = this.#walk(node, state, before)));
    return choice;
  }

  #walk(from: number, { readers, after }: State, before: number): number {
    const { operations, x, y } = this.#program;
    const visited = new Set<number>();
    const stack = [from];
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      if (visited.has(node)) continue;
      visited.add(node);
      this.#work++;
      const operation = operations[node];
      if (operation === MATCH || hasBit(readers, node)) return node;
      if (operation === SPLIT) stack.push(y[node]!, x[node]!);
      else if (operation === ASSERT && holds(y[node]!, [before, after])) stack.push(x[node]!);
    }
    throw new Error("a node that can come to a match leads nowhere");
  }

  /** 2 × state + whether a match can begin, of a place of the text. */
  #place(at: number): number {
    if (++this.#work > WORK) this.#look();
    const offset = at - this.#blockStart;
    if (this.#blockStart >= 0 && offset >= 0 && offset < BLOCK) return this.#places[offset]!;
    const block = Math.floor((at - this.#first) / BLOCK);
    this.#blockStart = this.#first + block * BLOCK;
    this.#makePlaces(this.#blockStart, this.#ends[block]!);
    return this.#places[at - this.#blockStart]!;
  }

  /** First pass: the state at the end of each block. */
  #learn(): Known[] {
    const readers = emptyBitset(this.#program.operations.length);
    let state: Known = { readers, after: this.#classes.edgeKind };
    const ends: Known[] = [];
    const last = Math.floor((this.#text.end - this.#first) / BLOCK);
    for (let block = last; block >= 0 && !this.stopped; block--) {
      ends[block] = state;
      state = this.#makePlaces(this.#first + block * BLOCK, state);
    }
    return ends;
  }

  /** Fills in the places of a block from the state at its end, and returns the state at its start. */
  #makePlaces(start: number, end: Known): Known {
    this.#forget();
    const places = this.#places;
    const classes = this.#classes.of;
    const last = Math.min(start + BLOCK, this.#text.end);
    let number = this.#numberOf(end);
    for (let at = last; at >= start && !this.stopped; at--) {
      const byteClass =
        at === this.#text.start ? this.#classes.count : classes[this.#bytes[at - 1]!]!;
      const state = this.#states[number]!;
      let before = state.before[byteClass]!;
      if (before < 0) before = state.before[byteClass] = this.#stepBack(state, byteClass);
      places[at - start] = 2 * number + (before & 1);
      if (at > start) number = before >>> 1;
      if (++this.#work > WORK) this.#look();
    }
    return this.#states[number]!;
  }

  /** 2 × the state before a byte of the class + whether a match can begin behind it. */
  #stepBack({ readers, after }: State, byteClass: number): number {
    const { operations } = this.#program;
    const isEdge = byteClass === this.#classes.count;
    const byte = isEdge ? -1 : this.#classes.byte[byteClass]!;
    const kind = isEdge ? this.#classes.edgeKind : this.#classes.kind[byte]!;
    const open = this.#comeToMatch(readers, [kind, after]);
    const canBegin = Number(hasBit(open, this.#entry));
    this.#work += operations.length;
    if (isEdge) return canBegin;
    const reading = emptyBitset(operations.length);
    for (let node = 0; node < operations.length; node++) {
      if (operations[node] !== BYTES) continue;
      const target = targetOf(this.#program, node, byte);
      if (target >= 0 && hasBit(open, target)) setBit(reading, node);
    }
    return 2 * this.#numberOf({ readers: reading, after: kind }) + canBegin;
  }

  /** The nodes from which a match, or a node that reads on towards one, is reached without a byte. */
  #comeToMatch(readers: Bitset, sides: readonly [number, number]): Bitset {
    const { operations, y } = this.#program;
    const { from, nodes } = this.#sources;
    const open = readers.slice();
    const stack = [0]; // the match
    setBit(open, 0);
    for (let node = 1; node < operations.length; node++)
      if (hasBit(readers, node)) stack.push(node);
    for (let node = stack.pop(); node !== undefined; node = stack.pop())
      for (let i = from[node]!; i < from[node + 1]!; i++) {
        const source = nodes[i]!;
        if (hasBit(open, source)) continue;
        if (operations[source] === ASSERT && !holds(y[source]!, sides)) continue;
        setBit(open, source);
        stack.push(source);
      }
    return open;
  }

  #numberOf({ readers, after }: Known): number {
    const key = `${after}:${readers.join()}`;
    let number = this.#numbers.get(key);
    if (number === undefined) {
      const before = new Int32Array(this.#classes.count + 1).fill(-1);
      number = this.#states.push({ readers, after, before, choices: undefined }) - 1;
      this.#numbers.set(key, number);
    }
    return number;
  }

  /** Drops the states of the blocks before when they are many. */
  #forget(): void {
    const bytes = 600 + this.#program.operations.length / 2 + 4 * this.#classes.count; // five objects, a set, its key, a table
    if (this.#states.length * bytes < HELD) return;
    this.#states = [];
    this.#numbers = new Map();
  }

  #kindBefore(at: number): number {
    return at === this.#text.start
      ? this.#classes.edgeKind
      : this.#classes.kind[this.#bytes[at - 1]!]!;
  }

  #look(): void {
    this.#work = 0;
    this.stopped = this.#budget?.() ?? false;
  }
}

function sourcesOf({ operations, x, y }: Program): { from: Int32Array; nodes: Int32Array } {
  const pairs: (readonly [target: number, source: number])[] = [];
  for (const [node, operation] of operations.entries()) {
    if (operation === SPLIT) pairs.push([x[node]!, node], [y[node]!, node]);
    if (operation === ASSERT) pairs.push([x[node]!, node]);
  }
  pairs.sort(([a], [b]) => a - b);
  const from = new Int32Array(operations.length + 1);
  for (const [target] of pairs) from[target + 1]!++;
  for (let node = 0; node < operations.length; node++) from[node + 1]! += from[node]!;
  return { from, nodes: Int32Array.from(pairs, ([, source]) => source) };
}
