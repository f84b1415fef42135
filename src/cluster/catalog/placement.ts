/**
 * Decides which nodes own a slice. The owners are the nodes with the highest hashes of node and slice (rendezvous
 * hashing). All machines compute the same owners from the same list of nodes. When a node joins or leaves, only the
 * slices of that node move.
 */

import { hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
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

const weightOf = (text: string): number => hash("sha256", text, "buffer").readUIntBE(0, 6);

/**
 * Caches the owners of slices until the list of nodes that own slices changes. A node asks for the owners of every
 * slice once a second. Hashing 40 000 slices for each of thirty nodes takes more than a second.
 */
export class Placement {
  readonly #replicas: number;
  #nodes: readonly string[] = [];
  readonly #owners = new Map<string, readonly string[]>();

  constructor(replicas: number) {
    this.#replicas = replicas;
  }

  /** Sets the nodes among which slices are distributed. */
  place(nodes: readonly string[]): void {
    if (isDeepStrictEqual(nodes, this.#nodes)) return;
    this.#nodes = nodes;
    this.#owners.clear();
  }

  ownersOf(slice: readonly [shard: number, slice: number]): readonly string[] {
    const key = slice.join(" ");
    let owners = this.#owners.get(key);
    if (!owners) this.#owners.set(key, (owners = ownersOf(this.#nodes, slice, this.#replicas)));
    return owners;
  }
}
