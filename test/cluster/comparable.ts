/** Makes the answers of one engine and of many comparable. */

import type { SearchResponse } from "../../src/search/messages/response.ts";

const TIMES = ["duration", "wait", "matchTreeConstruction", "matchTreeSearch"];

/** Returns all of a response except times, and except cursors, which only their writer can read. */
export function comparable({ stats, nextCursor, ...rest }: SearchResponse) {
  const counters = Object.entries(stats).filter(([name]) => !TIMES.includes(name));
  return { ...rest, counters: Object.fromEntries(counters), hasNext: nextCursor !== undefined };
}
