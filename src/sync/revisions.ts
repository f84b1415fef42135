/**
 * Chooses the revisions to index. These are the default branch, and the branches and tags that match a pattern of the
 * connection.
 */

import { newPause } from "../base/yield.ts";
import { matches } from "../git/ref-patterns.ts";
import type { CommonConnectionConfig } from "./config/config.ts";

/**
 * Resolves to the short names of the default branch (`head`), of the other branches, and of the tags, in this order.
 * `refs` contains full names.
 */
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
