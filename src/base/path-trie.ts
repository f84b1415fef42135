/** A tree of path parts, in which paths share the nodes of common folders. */

export type PathTrie = Map<string, PathTrie>;

/** Builds the tree of some paths. Empty parts are dropped, so `/a//b/` is `a/b`. */
export function pathTrie(paths: Iterable<string>): PathTrie {
  const root: PathTrie = new Map();
  for (const path of paths) {
    let node = root;
    for (const part of path.split("/")) {
      if (part === "") continue;
      const next = node.get(part) ?? new Map<string, PathTrie>();
      node.set(part, next);
      node = next;
    }
  }
  return root;
}
