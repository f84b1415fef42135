/** Makes the answers of one engine and those of several engines comparable. */

import type { SearchResponse } from "../../src/search/messages/response.ts";

const TIMES = ["duration", "wait", "matchTreeConstruction", "matchTreeSearch"];

/** Returns a response without times and without cursors, which only their writer can read. */
export function comparable({ stats, nextCursor, ...rest }: SearchResponse) {
  const counters = Object.entries(stats).filter(([name]) => !TIMES.includes(name));
  return { ...rest, counters: Object.fromEntries(counters), hasNext: nextCursor !== undefined };
}
