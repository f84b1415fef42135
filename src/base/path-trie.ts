/** Builds a tree of path parts, in which paths share the nodes of common folders. */

import type { Pause } from "./yield.ts";

export type PathTrie = Map<string, PathTrie>;

/** Builds the tree of some paths. Empty parts are dropped, so `/a//b/` is `a/b`. */
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
