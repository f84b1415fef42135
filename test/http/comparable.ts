/** Reduces answers to what is equal in two answers about the same repositories. */

import { events } from "./interface.ts";

const COUNTERS = [
  "actualMatchCount",
  "totalMatchCount",
  "fileCount",
  "filesConsidered",
  "filesLoaded",
  "regexpsConsidered",
];
const TIMES = ["duration", "wait", "matchTreeConstruction", "matchTreeSearch"];

/** "same": both indexes have the same layout of segments, so that all counters except times are compared. */
export type Layout = "same" | "any";

/** Returns the value without ids, and without what depends on time or on the layout of segments. */
export function comparable(value: unknown, layout: Layout = "any"): unknown {
  if (Array.isArray(value)) return value.map((each) => comparable(each, layout));
  if (typeof value !== "object" || value === null) return value;
  const isStats = "totalMatchCount" in value;
  const isTold = (name: string) =>
    layout === "same" ? !TIMES.includes(name) : COUNTERS.includes(name);
  const fields = Object.entries(value)
    .filter(([name]) => !["id", "repoId", "repositoryId", "indexedAt", "durationMs"].includes(name))
    .filter(([name]) => !isStats || isTold(name))
    .map(([name, field]) => [name, comparable(field, layout)]);
  return Object.fromEntries(fields);
}

/** Reads an answer. The chunks of a stream come in any order, so only its whole content counts. */
export function readAnswer(text: string, layout: Layout = "any"): unknown {
  if (!text.startsWith("data: ")) return comparable(JSON.parse(text), layout);
  const all = events(text);
  const files = all
    .flatMap((event) => (event["files"] as unknown[]) ?? [])
    .map((file) => JSON.stringify(comparable(file)));
  return [files.sort(), comparable(all.at(-1), layout)];
}
