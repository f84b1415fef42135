/** Chooses the revisions to index: the default branch, and what the connection's patterns match. */

import { matches } from "../git/ref-patterns.ts";
import type { CommonConnectionConfig } from "./config/config.ts";

/** Returns short names, the default branch first. `refs` are full names. */
export function revisionsOf(
  refs: Iterable<string>,
  head: string,
  { branches = [], tags = [] }: Pick<CommonConnectionConfig, "branches" | "tags">,
): string[] {
  const names = [...refs];
  const among = (room: string, patterns: readonly string[]): string[] =>
    names
      .filter((name) => name.startsWith(room))
      .map((name) => name.slice(room.length))
      .filter((name) => patterns.some((pattern) => matches(pattern, name)));
  const found = [head, ...among("refs/heads/", branches), ...among("refs/tags/", tags)];
  return [...new Set(found)];
}
