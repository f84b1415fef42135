import { RepositoryList } from "../../src/store/catalog/repository-list.ts";

/** Makes a list from pairs in any order. REQUIRES: no repository occurs twice. */
export function repositoryListOf(
  pairs: Iterable<readonly [repository: number, changed: number]>,
): RepositoryList {
  const sorted = [...pairs].sort(([a], [b]) => a - b);
  return new RepositoryList(
    Uint32Array.from(sorted, ([id]) => id),
    Uint32Array.from(sorted, ([, changed]) => changed),
  );
}
