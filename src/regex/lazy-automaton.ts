/**
 * Builds the states of a program's deterministic automaton lazily, when a text needs them. A state is the list of
 * nodes that may come next, in order of priority. A walk along the edges that read no byte finds these nodes. If the
 * walk meets an assertion, the next byte decides how the walk continues. In this case, the state stores the nodes at
 * which the walk began, and the kind of the previous byte. As soon as the next byte is known, the walk is repeated
 * from its beginning. If the first walk were continued instead, it would visit nodes twice, and empty loops would
 * have another meaning than in RE2.
 *
 * Whether a match ends at a position depends on the byte after that position. So `matched` says whether a match ends
 * just before the byte that led to the state.
 *
 * A forward automaton drops all nodes whose priority is lower than that of a match. So the last match before the dead
 * state is the leftmost-first one. A backward automaton follows all nodes, so its last match is at the leftmost
 * start.
 *
 * Building a state takes time proportional to the number of its nodes. For ordinary expressions, this is a few
 * microseconds.
 */

import { holds, type ByteClasses } from "./byte-classes.ts";
import { ASSERT, MATCH, SPLIT, targetOf, type Program } from "./program.ts";

export const DEAD = -1;

interface State {
  readonly nodes: Int32Array;
  readonly isOpen: boolean; // if true, the walk waits for the next byte and begins at `nodes`; if false, it ends there
  readonly before: number; // the kind of the previous byte
  readonly matched: boolean;
}

export class LazyAutomaton {
  readonly #program: Program;
  readonly #classes: ByteClasses;
  readonly #backwards: boolean;
  readonly #numbers = new Map<string, number>();
  readonly #visited: Int32Array; // for each node, the last walk that saw it
  #walk = 0;
  /** The number of nodes visited since the caller last set this to 0. It measures the cost of building states. */
  work = 0;
  /** The number of nodes in all states together. It measures the memory of the states. */
  held = 0;
  #states: State[] = [];

  constructor(program: Program, classes: ByteClasses, backwards: boolean) {
    this.#program = program;
    this.#classes = classes;
    this.#backwards = backwards;
    this.#visited = new Int32Array(program.operations.length);
  }

  /** The number of states since the last reset(). States are numbered from 0. */
  get size(): number {
    return this.#states.length;
  }

  /** Forgets all states except `keep`, which becomes state 0. */
  reset(keep?: number): void {
    const kept = keep === undefined ? undefined : this.#states[keep]!;
    this.#states = [];
    this.#numbers.clear();
    this.held = 0;
    if (kept) this.#add(kept);
  }

  hasMatched(state: number): boolean {
    return this.#states[state]!.matched;
  }

  /** Returns the start state for a position after a byte of this kind. */
  start(before: number): number {
    return this.#number([this.#program.start], before, false);
  }

  /**
   * Returns the state after a byte of the class, or after the edge of the text. Returns DEAD if no match can follow.
   */
  step(from: number, byteClass: number): number {
    const isEdge = byteClass === this.#classes.count;
    const byte = isEdge ? -1 : this.#classes.byte[byteClass]!;
    const kind = isEdge ? this.#classes.edgeKind : this.#classes.kind[byte]!;
    const targets = new Set<number>();
    let matched = false;
    for (const node of this.#settled(this.#states[from]!, kind)) {
      if (this.#program.operations[node] === MATCH) {
        matched = true;
        if (!this.#backwards) break;
      } else if (byte >= 0) {
        const target = targetOf(this.#program, node, byte);
        if (target >= 0) targets.add(target);
      }
    }
    if (targets.size === 0 && !matched) return DEAD;
    return this.#number([...targets], kind, matched);
  }

  /**
   * Returns the nodes that read a byte or end a match. `after` is the kind of the next byte, so the kinds on both
   * sides are known.
   */
  #settled({ nodes, isOpen, before }: State, after: number): Iterable<number> {
    if (!isOpen) return nodes;
    return this.#reach(nodes, this.#backwards ? [after, before] : [before, after]);
  }

  /**
   * Follows the edges that read no byte, and returns the nodes at which they end, in order of priority. `sides` has
   * the kinds of the bytes before and after the current position. Without `sides`, assertions cannot be decided, so a
   * walk ends at an assertion as well.
   */
  #reach(from: Iterable<number>, sides: readonly [number, number] | undefined): number[] {
    const { operations, x, y } = this.#program;
    const walk = ++this.#walk;
    const found: number[] = [];
    const stack = [...from].reverse();
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      if (this.#visited[node] === walk) continue;
      this.#visited[node] = walk;
      this.work++;
      const operation = operations[node];
      if (operation === SPLIT) stack.push(y[node]!, x[node]!);
      else if (operation === ASSERT && sides) {
        if (holds(y[node]!, sides)) stack.push(x[node]!);
      } else found.push(node);
    }
    return found;
  }

  #number(targets: readonly number[], before: number, matched: boolean): number {
    const reached = this.#reach(targets, undefined);
    const isOpen = reached.some((node) => this.#program.operations[node] === ASSERT);
    const nodes = Int32Array.from(isOpen ? targets : reached);
    return this.#add({ nodes, isOpen, before: isOpen ? before : 0, matched });
  }

  #add(state: State): number {
    const { nodes, isOpen, before, matched } = state;
    const key = `${matched ? "m" : ""}${isOpen ? before : ""}:${nodes.join()}`;
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#states.push(state) - 1;
      this.#numbers.set(key, number);
      this.held += nodes.length;
    }
    return number;
  }
}
