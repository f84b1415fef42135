/** Paths as a tree of their parts: a folder that several of them lead through is one node. */

export type PathTrie = Map<string, PathTrie>;

/** Empty parts are left out, so `/a//b/` is `a/b`. */
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
