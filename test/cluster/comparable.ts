/** Answers of one engine and of many, made comparable. */

import type { SearchResponse } from "../../src/search/messages/response.ts";

const TIMES = ["duration", "wait", "matchTreeConstruction", "matchTreeSearch"];

/** Everything but times, and cursors, which only the one who wrote them can read. */
export function comparable({ stats, nextCursor, ...rest }: SearchResponse) {
  const counters = Object.entries(stats).filter(([name]) => !TIMES.includes(name));
  return { ...rest, counters: Object.fromEntries(counters), hasNext: nextCursor !== undefined };
}
