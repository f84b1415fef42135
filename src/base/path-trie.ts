/** Builds a tree of path parts. Paths in the same folder share the nodes of this folder. */

import type { Pause } from "./yield.ts";

export type PathTrie = Map<string, PathTrie>;

/** Builds the tree of some paths. Empty parts are ignored, so `/a//b/` is the same as `a/b`. */
export async function pathTrie(paths: Iterable<string>, pause: Pause): Promise<PathTrie> {
  const root: PathTrie = new Map();
  for (const path of paths) {
    let node = root;
    for (const part of path.split("/")) {
      if (part === "") continue;
      const next = node.get(part) ?? new Map<string, PathTrie>();
      node.set(part, next);
      node = next;
    }
    await pause();
  }
  return root;
}
