/**
 * Finds all matches of a text in time linear in its length, for every expression. The automaton reads beyond a match
 * until no better one can follow, and then starts again at the end of the match. For `x*y|x` on a text of x's, it
 * reads to the end of the text for each match. Here a first pass runs backwards over the text. For each place, it
 * computes which nodes of the program read the next byte and can still reach a match. The second pass runs forwards.
 * At each split, it takes the first branch that can reach a match. This gives the leftmost preferred match without
 * ever going back.
 *
 * It processes about 10 MB/s, so it is used only where the automaton wastes time (see automaton.ts). The facts about
 * a place form one of a few states, each of which is built once. In the worst case, every byte of the text would have
 * a state of its own. So states are kept only for one block at a time. The first pass keeps one state per block. From
 * it, the second pass rebuilds the states of the block. This takes 30 MiB for the largest expressions, and a few MiB
 * for others.
 */

import { emptyBitset, hasBit, setBit, type Bitset } from "../base/bitset.ts";
import { holds, type ByteClasses } from "./byte-classes.ts";
import { ASSERT, BYTES, MATCH, SPLIT, targetOf, type Program } from "./program.ts";
import type { Span } from "./iterate.ts";

const BLOCK = 4096; // counted in places
/** The most bytes of states that are kept from one block to the next. */
const HELD = 4 * 1024 * 1024;
/** How many nodes are visited and bytes are read between two checks of the budget, in some milliseconds. */
const WORK = 200_000;

/** The facts about a place. They depend only on the text after it. */
interface Known {
  /** The nodes that read the byte after the place and can then reach a match. */
  readonly readers: Bitset;
  readonly after: number; // kind of that byte
}

/** A Known with values that were computed from it. Numbers refer to the current list of states. */
interface State extends Known {
  /**
   * For each class of the previous byte, and for the edge of the text: 2 × the state of the previous place, plus 1 if
   * a match can begin there; -1 if not computed yet.
   */
  readonly before: Int32Array;
  /** For 4 × node + the kind of the previous byte: the first node with which the walk from this node can continue. */
  choices: Map<number, number> | undefined; // the first pass does not need it
}

export class TwoPass {
  readonly #program: Program;
  readonly #classes: ByteClasses;
  readonly #entry: number;
  /** For each node, the nodes that lead to it without a byte: those of node n are at [from[n], from[n + 1]). */
  readonly #sources: { readonly from: Int32Array; readonly nodes: Int32Array };
  #bytes!: Uint8Array;
  #text!: Span;
  #first = 0; // the place from which matches are searched
  #budget: (() => boolean) | undefined;
  #states: State[] = [];
  #numbers = new Map<string, number>();
  /** For each place of the current block, [start, start + BLOCK]: 2 × its state, plus 1 if a match can begin there. */
  readonly #places = new Int32Array(BLOCK + 1);
  #blockStart = -1;
  /** The state at the end of each block, in order. */
  #ends: readonly Known[] = [];
  #work = 0;
  stopped = false;

  /** REQUIRES: the program runs forwards and searches; the classes are those of this program, or finer. */
  constructor(program: Program, classes: ByteClasses) {
    this.#program = program;
    this.#classes = classes;
    this.#entry = program.x[program.start]!; // after the split that lets a match begin anywhere
    this.#sources = sourcesOf(program);
  }

  /**
   * Makes the first pass over a text, down to the place `first`. This and find() set `stopped` if the budget ends
   * them.
   */
  begin(bytes: Uint8Array, text: Span & { readonly first: number }, budget?: () => boolean): void {
    this.#bytes = bytes;
    this.#text = text;
    this.#first = text.first;
    this.#budget = budget;
    this.#blockStart = -1;
    this.stopped = false;
    this.#ends = this.#learn();
  }

  /**
   * Returns the leftmost match that begins at or after `from`. REQUIRES: `from` is at least `first` and never
   * decreases.
   */
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

  /** Returns the end of the match that begins at `start`, or undefined if the budget is used up. */
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

  /**
   * Returns the first node, in order of priority, with which the walk from `node` can continue: one that reads a
   * byte, or the match.
   */
  #choose(node: number, at: number): number {
    const place = this.#place(at);
    if (this.stopped) return node;
    const state = this.#states[place >>> 1]!; // belongs to the block that #place() has just made
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

  /** Returns 2 × the state of a place, plus 1 if a match can begin there. */
  #place(at: number): number {
    if (++this.#work > WORK) this.#look();
    const offset = at - this.#blockStart;
    if (this.#blockStart >= 0 && offset >= 0 && offset < BLOCK) return this.#places[offset]!;
    const block = Math.floor((at - this.#first) / BLOCK);
    this.#blockStart = this.#first + block * BLOCK;
    this.#makePlaces(this.#blockStart, this.#ends[block]!);
    return this.#places[at - this.#blockStart]!;
  }

  /** Makes the first pass, and returns the state at the end of each block. */
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

  /** Returns 2 × the state before a byte of the class, plus 1 if a match can begin after it. */
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

  /** Returns the nodes that can reach the match or one of `readers` without a byte. */
  #comeToMatch(readers: Bitset, sides: readonly [number, number]): Bitset {
    const { operations, y } = this.#program;
    const { from, nodes } = this.#sources;
    const open = readers.slice();
    const stack = [0]; // stands for the match
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

  /** Drops the states of earlier blocks if they take too much memory. */
  #forget(): void {
    const bytes = 600 + this.#program.operations.length / 2 + 4 * this.#classes.count; // covers five objects, a set, its key and a table
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
