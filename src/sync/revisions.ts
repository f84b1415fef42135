/** Chooses the revisions to index: the default branch, and those that the connection's patterns match. */

import { newPause } from "../base/yield.ts";
import { matches } from "../git/ref-patterns.ts";
import type { CommonConnectionConfig } from "./config/config.ts";

/** Resolves to short names: the default branch, then branches, then tags. `refs` are full names. */
export async function revisionsOf(
  refs: Iterable<string>,
  head: string,
  { branches = [], tags = [] }: Pick<CommonConnectionConfig, "branches" | "tags">,
): Promise<string[]> {
  const rooms = [
    { room: "refs/heads/", patterns: branches, found: new Set([head]) },
    { room: "refs/tags/", patterns: tags, found: new Set<string>() },
  ];
  const pause = newPause();
  for (const ref of refs) {
    for (const { room, patterns, found } of rooms) {
      const name = ref.slice(room.length);
      if (ref.startsWith(room) && patterns.some((pattern) => matches(pattern, name)))
        found.add(name);
    }
    await pause();
  }
  return [...new Set(rooms.flatMap(({ found }) => [...found]))];
}
