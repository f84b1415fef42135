/** What two answers have in common that tell the same of the same repositories. */

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

/** Whether an answer's counters are compared as of one layout of segments: then all but the times are. */
export type Layout = "same" | "any";

/** Without ids and what depends on time or on the layout of segments. */
export function comparable(value: unknown, layout: Layout = "any"): unknown {
  if (Array.isArray(value)) return value.map((each) => comparable(each, layout));
  if (typeof value !== "object" || value === null) return value;
  const isStats = "totalMatchCount" in value;
  const isTold = (name: string) =>
    layout === "same" ? !TIMES.includes(name) : COUNTERS.includes(name);
  const fields = Object.entries(value)
    .filter(([name]) => !["id", "repoId", "repositoryId", "indexedAt"].includes(name))
    .filter(([name]) => !isStats || isTold(name))
    .map(([name, field]) => [name, comparable(field, layout)]);
  return Object.fromEntries(fields);
}

/** A stream's files come in any order of chunks: what counts is what it told in all. */
export function readAnswer(text: string, layout: Layout = "any"): unknown {
  if (!text.startsWith("data: ")) return comparable(JSON.parse(text), layout);
  const all = events(text);
  const files = all
    .flatMap((event) => (event["files"] as unknown[]) ?? [])
    .map((file) => JSON.stringify(comparable(file)));
  return [files.sort(), comparable(all.at(-1), layout)];
}
