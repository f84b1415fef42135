/** Defines the JSON of find(): the request and the answer. */

import { z } from "@hono/zod-openapi";
import type * as find from "../find/request.ts";
import { count, type All, type Same } from "./schemas.ts";

const lines = z
  .object({ from: count("The first line, from 1."), to: count("The last line.") })
  .openapi("PlaceLines");

const named = { name: z.string(), kind: z.string() };

export const findRequest = z
  .object({
    text: z.string().openapi({
      minLength: 1,
      description: "The question, in ordinary words or as a name. At most 8 KiB.",
      example: "where is the retry delay computed",
    }),
    query: z.string().optional().openapi({
      description: "Filters such as repo:, lang:, file: or rev:. Default: all files.",
      example: "lang:go",
    }),
    places: z.int().min(1).max(100).optional().openapi({
      description: "The maximum number of places to return. Default 10.",
    }),
    lines: z.int().min(1).max(200).optional().openapi({
      description: "The maximum number of lines of each place to return. Default 12.",
    }),
    maxTokens: z.int().min(1).optional().openapi({
      description: "The maximum number of tokens of the returned lines, at three bytes a token.",
    }),
    after: z.string().optional().openapi({
      description: "The nextCursor of a response, to request the places after it.",
    }),
  })
  .openapi("FindRequest");

const foundPlace = z
  .object({
    repository: z.string(),
    repositoryId: count("The id of the repository."),
    path: z.string(),
    revision: z.string(),
    webUrl: z.string(),
    language: z.string(),
    score: z.number().openapi({ description: "Scores of different questions are not comparable." }),
    definition: z
      .object({ ...named, parent: z.object(named).optional() })
      .optional()
      .openapi({ description: "Absent if the place is outside all definitions." }),
    lines,
    chunk: z.object({
      content: z.string(),
      contentStart: z.object({
        byteOffset: count("From 0."),
        lineNumber: count("From 1."),
        column: count("From 1."),
      }),
    }),
    others: z.array(lines).openapi({ description: "Other places of the file, best first." }),
    reasons: z.array(
      z.object({
        what: z.enum(["name", "path", "definition", "comment", "words", "factor"]),
        detail: z.string(),
        weight: z.number().openapi({
          description: "What the reason adds to the score; for a factor, its multiplier.",
        }),
      }),
    ),
  })
  .openapi("FoundPlace");

export const findResponse = z
  .object({
    places: z.array(foundPlace).openapi({ description: "Best first, at most one of each file." }),
    words: z.array(
      z.object({
        word: z.string(),
        alternatives: z.array(
          z.object({
            word: z.string(),
            why: z.enum(["same", "synonym", "prefix", "initials"]),
            weight: z.number(),
          }),
        ),
        frequency: count("Windows of about 400 bytes that have the word."),
      }),
    ),
    unknownWords: z.array(z.string()),
    nextCursor: z.string().optional(),
    isComplete: z.boolean().openapi({ description: "Whether every file in scope was scored." }),
    missing: z.array(z.enum(["timed-out", "damaged", "no-word-lists"])).openapi({
      description: "Why files were not scored.",
    }),
    stats: z.object({
      filesScored: count("Files in scope that were scored."),
      filesRead: count("Files that were read."),
      durationMs: z.number(),
    }),
  })
  .openapi("FindResponse");

/** Fails to compile if a schema and its type differ. */
export type SchemasAgree = All<
  [Same<typeof findRequest, find.FindRequest>, Same<typeof findResponse, find.FindResponse>]
>;
