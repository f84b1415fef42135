/**
 * Defines the JSON of explanations. An explanation says how a query is parsed and planned. If the query finds nothing,
 * it also suggests changed queries that find something.
 */

import { z } from "@hono/zod-openapi";
import type * as response from "../search/messages/response.ts";
import { count, searchStats, type All, type Same, type searchRequest } from "./schemas.ts";

const CHANGES = [
  "ignore-case",
  "literal",
  "regex",
  "all-revisions",
  "drop-filter",
  "language",
] as const satisfies readonly response.Explanation["suggestions"][number]["change"][];

/** Returns the schema of an explanation. Its suggestions are requests that a client can send. */
export const explanation = (request: ReturnType<typeof searchRequest>) =>
  z
    .object({
      query: z.string().openapi({ description: "The canonical form of the query." }),
      stats: searchStats,
      hints: z
        .array(
          z.object({
            position: count("In UTF-16 units of the query that was given."),
            word: z.string(),
            message: z.string(),
            query: z.string().openapi({ description: "The corrected query." }).optional(),
          }),
        )
        .openapi({ description: "Words of other search engines, and what to write instead." }),
      suggestions: z
        .array(
          z.object({
            change: z.enum(CHANGES),
            request,
            totalMatchCount: count("Ranges that it finds."),
          }),
        )
        .openapi({
          description: "Suggestions, if nothing was found: changed requests that find something.",
        }),
      notIndexed: z.array(
        z.object({
          repository: z.string(),
          reason: z.enum(["unknown", "indexing", "files-skipped"]),
          files: count("Skipped files that the filters admit.").optional(),
        }),
      ),
    })
    .openapi("Explanation");

/**
 * An explanation without its list of segments. A segment contains files of several repositories, so the list would
 * reveal that there are repositories that the caller may not see.
 */
export type Told = Omit<response.Explanation, "segments">;

/** Fails to compile if the schema and its type differ. */
export type ExplanationAgrees = All<[Same<ReturnType<typeof explanation>, Told>]>;
