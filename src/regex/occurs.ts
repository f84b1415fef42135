/**
 * Finds in steps whether an expression matches in a short text. At each position, this computes the set of nodes that
 * may come next. The time is proportional to the length of the text times the size of the program. Only two such sets
 * are in memory at a time. The automaton is faster if a text uses the same states several times. But if each byte
 * needs a new state, the automaton cannot be interrupted within a text.
 */

import { holds, type ByteClasses } from "./byte-classes.ts";
import { ASSERT, MATCH, SPLIT, targetOf, type Program } from "./program.ts";
import type { Steps } from "../base/steps.ts";

/**
 * The number of nodes that are visited in one step, which takes a fraction of a millisecond. A single byte may need
 * visits to all nodes.
 */
const WORK = 10_000;

/**
 * Finds whether the program matches in the text. REQUIRES: the program runs forwards and searches; the byte classes
 * were made for this program, or are finer.
 */
export function* occursSteps(
  program: Program,
  { kind, edgeKind }: Pick<ByteClasses, "kind" | "edgeKind">,
  text: Uint8Array,
): Steps<boolean> {
  const { operations, x, y, start } = program;
  const seen = new Int32Array(operations.length).fill(-1); // for each node, the position where it was visited last
  const kindAt = (at: number) => (at < 0 || at === text.length ? edgeKind : kind[text[at]!]!);
  let nodes = [start];
  let work = 0;
  for (let at = 0; at <= text.length; at++) {
    const sides = [kindAt(at - 1), kindAt(at)] as const;
    const next: number[] = [];
    for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
      if (seen[node] === at) continue;
      seen[node] = at;
      if (++work % WORK === 0) yield;
      const operation = operations[node];
      if (operation === MATCH) return true;
      if (operation === SPLIT) nodes.push(x[node]!, y[node]!);
      else if (operation === ASSERT) {
        if (holds(y[node]!, sides)) nodes.push(x[node]!);
      } else if (at < text.length) {
        const target = targetOf(program, node, text[at]!);
        if (target >= 0) next.push(target);
      }
    }
    nodes = next;
  }
  return false;
}
