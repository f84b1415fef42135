/**
 * Finds all matches in a text, in time linear in the length of the text, for every expression. The automaton cannot
 * do this. After a match, it reads on until no better match can follow, and then starts again at the end of the
 * match. For the expression `x*y|x` and a text of x's, this means that it reads to the end of the text for each
 * match.
 *
 * Here, a first pass runs backwards over the text. For each position, it computes which nodes of the program can read
 * the next byte and still reach a match. The second pass runs forwards. At each split, it takes the first branch that
 * can reach a match. This gives the leftmost preferred match without ever going back.
 *
 * This processes about 10 MB/s, so it is used only where the automaton wastes time (see automaton.ts). The result of
 * the first pass for a position is called a state. Usually there are few different states, and each is built once. In
 * the worst case, every position has a different state. Therefore, if the states take much memory, they are dropped
 * after each block of the text. For each block, the first pass keeps the state at the end of the block. From this
 * state, the second pass rebuilds the other states of the block. All states take 30 MiB for the largest expressions,
 * and a few MiB for smaller ones.
 */

import { emptyBitset, hasBit, setBit, type Bitset } from "../base/bitset.ts";
import { holds, type ByteClasses } from "./byte-classes.ts";
import { ASSERT, BYTES, MATCH, SPLIT, targetOf, type Program } from "./program.ts";
import type { Span } from "./iterate.ts";
import type { Limits } from "./limits.ts";

const BLOCK = 4096; // the number of positions in a block
/** The maximum size of the states that are kept from one block to the next, in bytes. */
const HELD = 4 * 1024 * 1024;
/**
 * The amount of work between two checks of the budget, which is the number of visited nodes plus the number of bytes
 * read. This much work takes a few milliseconds.
 */
const WORK = 100_000;

/** What is known about a position. It depends only on the text after the position. */
interface Known {
  /** The nodes that read the byte after the position and can then reach a match. */
  readonly readers: Bitset;
  readonly after: number; // the kind of the byte after the position
}

/**
 * What is known about a position, and what has been computed from this. The number of a state is its index in
 * #states.
 */
interface State extends Known {
  /**
   * The results of #stepBack(), by the class of the byte before this position. The edge of the text counts as a
   * class. A result is 2 × the number of the previous position's state, plus 1 if a match can begin at this position.
   * It is -1 if it has not been computed yet.
   */
  readonly before: Int32Array;
  /**
   * The cached results of #walk(). A key is 4 × node + the kind of the previous byte. The first pass does not need
   * these results.
   */
  choices: Map<number, number> | undefined;
}

/** Stands for no node and for no block. */
const NONE = -1;

export class TwoPass {
  readonly #program: Program;
  readonly #classes: ByteClasses;
  readonly #entry: number;
  /**
   * The nodes that lead to each node without reading a byte. For node n, these are in `nodes`, from index from[n] up
   * to, but not including, index from[n + 1].
   */
  readonly #sources: { readonly from: Int32Array; readonly nodes: Int32Array };
  /** The memory that contains the text. The caller replaces it after a pause if the kernel's memory has grown. */
  bytes!: Uint8Array;
  #text!: Span;
  #first = 0; // the position from which matches are searched
  #limits: Limits = {};
  #states: State[] = [];
  #numbers = new Map<string, number>();
  /**
   * For each position of the current block, including its end, 2 × the number of the position's state, plus 1 if a
   * match can begin there.
   */
  readonly #places = new Int32Array(BLOCK + 1);
  #blockStart = NONE; // the first position of the current block; NONE while #places is incomplete
  /**
   * The number of the block that is incomplete because a limit was reached. Its states are kept until it is complete.
   */
  #interrupted = NONE;
  /** What is known about the position at the end of each block, by the number of the block. */
  #ends: Known[] = [];
  /**
   * The number of blocks that the first pass has not read yet. They are the first blocks, because this pass runs
   * backwards.
   */
  #unread = 0;
  /** What is known about the position at the end of the last unread block. */
  #unreadEnd!: Known;
  #at = 0; // the position that the second pass has reached
  #start = 0; // the start of the match that the second pass follows
  #node = NONE; // the node that this match has reached; NONE between matches
  #work = 0; // the work since the last check of the limits
  /** Whether the budget ended the last call of find(). */
  stopped = false;
  /** Whether the last call of find() was paused. The next call continues it. */
  paused = false;

  /**
   * Prepares to search with a program. REQUIRES: the program runs forwards and searches; the byte classes were made
   * for this program, or are finer.
   */
  constructor(program: Program, classes: ByteClasses) {
    this.#program = program;
    this.#classes = classes;
    this.#entry = program.x[program.start]!; // after the split that lets a match begin anywhere
    this.#sources = sourcesOf(program);
  }

  /** Begins to search a text. The search finds matches from the position `first` on. */
  begin(bytes: Uint8Array, text: Span & { readonly first: number }): void {
    this.bytes = bytes;
    this.#text = text;
    this.#first = this.#at = text.first;
    this.#blockStart = this.#interrupted = this.#node = NONE;
    this.#work = 0;
    this.#ends = [];
    this.#unread = Math.floor((text.end - text.first) / BLOCK) + 1;
    const readers = emptyBitset(this.#program.operations.length);
    this.#unreadEnd = { readers, after: this.#classes.edgeKind };
  }

  /**
   * Returns the leftmost match that begins at or after `from`. Returns undefined if there is no such match, or if a
   * limit stopped or paused the search. The first call runs the first pass. REQUIRES: `from` is at least `first` and
   * never decreases.
   */
  find(from: number, limits: Limits = {}): Span | undefined {
    this.#limits = limits;
    this.stopped = this.paused = false;
    this.#learn();
    if (this.#node === NONE && !this.#hasEnded) this.#seek(from);
    return this.#node === NONE || this.#hasEnded ? undefined : this.#follow();
  }

  /** Goes to the next position at which a match can begin, if there is one. */
  #seek(from: number): void {
    for (this.#at = Math.max(this.#at, from); this.#at <= this.#text.end; this.#at++) {
      const canBegin = this.#place(this.#at) & 1;
      if (this.#hasEnded) return;
      if (canBegin) {
        this.#start = this.#at;
        this.#node = this.#entry;
        return;
      }
    }
  }

  /** Returns the match that begins at #start, or undefined if a limit ended or paused the walk along it. */
  #follow(): Span | undefined {
    const { operations } = this.#program;
    for (;;) {
      const node = this.#choose(this.#node, this.#at);
      if (this.#hasEnded) return undefined;
      if (operations[node] === MATCH) break;
      this.#node = targetOf(this.#program, node, this.bytes[this.#at]!);
      this.#at++;
    }
    this.#node = NONE;
    return { start: this.#start, end: this.#at };
  }

  get #hasEnded(): boolean {
    return this.stopped || this.paused;
  }

  /**
   * Follows the nodes that read nothing, in order of priority, beginning with `node`. Returns the first node that reads
   * a byte or ends the match.
   */
  #choose(node: number, at: number): number {
    const place = this.#place(at);
    if (this.#hasEnded) return node;
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

  /** Returns 2 × the number of a position's state, plus 1 if a match can begin there. */
  #place(at: number): number {
    if (++this.#work > WORK) this.#look();
    const offset = at - this.#blockStart;
    if (this.#blockStart >= 0 && offset >= 0 && offset < BLOCK) return this.#places[offset]!;
    const block = Math.floor((at - this.#first) / BLOCK);
    this.#makePlaces(block, this.#ends[block]!);
    return this.#places[at - this.#first - block * BLOCK]!;
  }

  /** Runs the first pass, or what is left of it, and stores the state at the end of each block. */
  #learn(): void {
    while (this.#unread > 0 && !this.#hasEnded) {
      const block = this.#unread - 1;
      const before = this.#makePlaces(block, this.#unreadEnd);
      if (this.#hasEnded) return;
      this.#ends[block] = this.#unreadEnd;
      this.#unreadEnd = before;
      this.#unread = block;
    }
  }

  /**
   * Computes #places for a block from the state at the block's end. Returns the state at the block's start. After a
   * pause, this is called again for the same block. The states that were built before the pause are kept, so this
   * call quickly reaches the position where the earlier call stopped.
   */
  #makePlaces(block: number, end: Known): Known {
    if (block !== this.#interrupted) this.#forget();
    this.#interrupted = block;
    this.#blockStart = NONE;
    const start = this.#first + block * BLOCK;
    const places = this.#places;
    const classes = this.#classes.of;
    const last = Math.min(start + BLOCK, this.#text.end);
    let number = this.#numberOf(end);
    for (let at = last; at >= start && !this.#hasEnded; at--) {
      const byteClass =
        at === this.#text.start ? this.#classes.count : classes[this.bytes[at - 1]!]!;
      const state = this.#states[number]!;
      let before = state.before[byteClass]!;
      if (before < 0) before = state.before[byteClass] = this.#stepBack(state, byteClass);
      places[at - start] = 2 * number + (before & 1);
      if (at > start) number = before >>> 1;
      if (++this.#work > WORK) this.#look();
    }
    if (!this.#hasEnded) {
      this.#blockStart = start;
      this.#interrupted = NONE;
    }
    return this.#states[number]!;
  }

  /** Returns 2 × the number of the state before a byte of the class, plus 1 if a match can begin after this byte. */
  #stepBack({ readers, after }: State, byteClass: number): number {
    const { operations } = this.#program;
    const isEdge = byteClass === this.#classes.count;
    const byte = isEdge ? -1 : this.#classes.byte[byteClass]!;
    const kind = isEdge ? this.#classes.edgeKind : this.#classes.kind[byte]!;
    const open = this.#comeToMatch(readers, [kind, after]);
    const canBegin = Number(hasBit(open, this.#entry));
    this.#work += 2 * operations.length; // here and in #comeToMatch()
    if (isEdge) return canBegin;
    const reading = emptyBitset(operations.length);
    for (let node = 0; node < operations.length; node++) {
      if (operations[node] !== BYTES) continue;
      const target = targetOf(this.#program, node, byte);
      if (target >= 0 && hasBit(open, target)) setBit(reading, node);
    }
    return 2 * this.#numberOf({ readers: reading, after: kind }) + canBegin;
  }

  /** Returns the nodes that lead to the end of a match, or to one of `readers`, without reading a byte. */
  #comeToMatch(readers: Bitset, sides: readonly [number, number]): Bitset {
    const { operations, y } = this.#program;
    const { from, nodes } = this.#sources;
    const open = readers.slice();
    const stack = [0]; // the node MATCH
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
    // The size of a state in bytes. Its objects take 600, `readers` and the key half a byte for each node, and `before`
    // four bytes for each class.
    const bytes = 600 + this.#program.operations.length / 2 + 4 * this.#classes.count;
    if (this.#states.length * bytes < HELD) return;
    this.#states = [];
    this.#numbers = new Map();
  }

  #kindBefore(at: number): number {
    return at === this.#text.start
      ? this.#classes.edgeKind
      : this.#classes.kind[this.bytes[at - 1]!]!;
  }

  #look(): void {
    this.#work = 0;
    this.stopped = this.#limits.budget?.() ?? false;
    this.paused = !this.stopped && (this.#limits.isSliceOver?.() ?? false);
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
