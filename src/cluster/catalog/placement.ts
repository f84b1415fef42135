/**
 * Decides which nodes own a slice: those with the highest hashes of node and slice (rendezvous hashing). All machines
 * compute the same owners from the same list of nodes. When a node joins or leaves, only its own slices move.
 */

import { createHash } from "node:crypto";
import { compareText } from "../../base/compare.ts";

/**
 * Returns the names of the owners, the preferred one first. If there are at most `replicas` nodes, returns all of
 * them.
 */
export function ownersOf(
  nodes: readonly string[],
  [shard, slice]: readonly [shard: number, slice: number],
  replicas: number,
): string[] {
  return nodes
    .map((node) => ({ node, weight: weightOf(`${node} ${shard} ${slice}`) }))
    .sort((a, b) => b.weight - a.weight || compareText(a.node, b.node))
    .slice(0, replicas)
    .map(({ node }) => node);
}

const weightOf = (text: string): number =>
  createHash("sha256").update(text).digest().readUIntBE(0, 6);
