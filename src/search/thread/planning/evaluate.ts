/**
 * Decides whether a file matches, from what is known about the query's atoms. Also finds the atoms whose ranges are
 * shown for a matching file. An atom is true or false, or undefined if it was not evaluated yet. The result is
 * undefined if it depends on an undefined atom.
 */

import type { PlanNode } from "../../messages/plan.ts";

export type Verdict = boolean | undefined;

/** Says which atoms and sets are true for a file. */
export interface Facts {
  atom(atom: number): Verdict;
  set(set: number): Verdict;
}

export function decide(node: PlanNode, facts: Facts): Verdict {
  switch (node.kind) {
    case "all":
      return true;
    case "none":
      return false;
    case "set":
      return facts.set(node.set);
    case "atom":
      return facts.atom(node.atom);
    case "not": {
      const verdict = decide(node.child, facts);
      return verdict === undefined ? undefined : !verdict;
    }
    case "and":
      return settle(node.children, facts, false);
    case "or":
      return settle(node.children, facts, true);
  }
}

function settle(children: readonly PlanNode[], facts: Facts, decisive: boolean): Verdict {
  let verdict: Verdict = !decisive;
  for (const child of children) {
    const answer = decide(child, facts);
    if (answer === decisive) return decisive;
    if (answer === undefined) verdict = undefined;
  }
  return verdict;
}

/**
 * Returns, for each atom, the operands of the root that contain it. When the atom is evaluated, only these operands
 * can become false. Without this list, a conjunction of n operands would need n evaluations of n operands for each
 * file.
 */
export function operandsByAtom(root: PlanNode, atoms: number): readonly (readonly PlanNode[])[] {
  const operands: PlanNode[][] = Array.from({ length: atoms }, () => []);
  for (const operand of root.kind === "and" ? root.children : [root])
    for (const atom of atomsIn(operand)) operands[atom]!.push(operand);
  return operands;
}

function atomsIn(node: PlanNode, into = new Set<number>()): Set<number> {
  if (node.kind === "atom") into.add(node.atom);
  if (node.kind === "not") atomsIn(node.child, into);
  if (node.kind === "and" || node.kind === "or")
    for (const child of node.children) atomsIn(child, into);
  return into;
}

/** Returns true if a tree contains a negation. */
export function hasNegation(node: PlanNode): boolean {
  if (node.kind === "not") return true;
  return (node.kind === "and" || node.kind === "or") && node.children.some(hasNegation);
}

/** Returns the number of nodes in a tree. Evaluating the tree for one file visits each node at most once. */
export function sizeOf(node: PlanNode): number {
  if (node.kind === "not") return 1 + sizeOf(node.child);
  if (node.kind !== "and" && node.kind !== "or") return 1;
  return node.children.reduce((sum, child) => sum + sizeOf(child), 1);
}

/**
 * Adds to `into` the atoms whose ranges are shown for a matching file. These are the true atoms that are under no
 * negation, and that are not in a branch of a disjunction that is false or unknown.
 * REQUIRES: decide(node, facts) is true.
 */
export function shown(node: PlanNode, facts: Facts, into: Set<number>): void {
  switch (node.kind) {
    case "atom":
      into.add(node.atom);
      return;
    case "and":
      for (const child of node.children) shown(child, facts, into);
      return;
    case "or":
      for (const child of node.children)
        if (decide(child, facts) === true) shown(child, facts, into);
      return;
    case "all":
    case "none":
    case "set":
    case "not":
      return;
  }
}
