/** Defines the JSON of requests for the definitions of a symbol and for references to it. */

import { z } from "@hono/zod-openapi";
import {
  CERTAINTIES,
  NAVIGATION_USES,
  type NavigationAnswer,
  type NavigationPlace,
} from "../navigation/request.ts";
import {
  count,
  id,
  position,
  range,
  repositoryInfo,
  resultSymbol,
  type All,
  type Same,
} from "./schemas.ts";

const MOST_SYMBOL_CHARACTERS = 1000;
const MOST_LINES = 2 ** 31 - 1;

const certainty = z.enum(CERTAINTIES);

/** The fields that need others, as JSON Schema says it. The type of OpenAPI 3.1 in the library lacks the word. */
const NEEDS = {
  dependentRequired: {
    fileName: ["repoName", "line", "column"],
    line: ["fileName"],
    column: ["fileName"],
    atLeast: ["fileName"],
    after: ["fileName"],
  },
} as object;

export const symbolRequest = z
  .object({
    symbolName: z.string().min(1).max(MOST_SYMBOL_CHARACTERS).openapi({
      description: "Plain text, case-sensitive.",
      example: "createHandler",
    }),
    language: z.string().max(100).optional().openapi({
      description:
        "TypeScript, TSX and JavaScript count as one language, and so do C and C++. Empty means any. Ignored with fileName.",
    }),
    revisionName: z.string().max(1000).optional().openapi({
      description:
        "With repoName, the revision. Without repoName, a filter like rev:, which also matches parts of names. Default, or if empty: each repository's default revision.",
    }),
    repoName: z.string().optional().openapi({ description: "Default: all repositories." }),
    fileName: z.string().min(1).optional().openapi({
      description:
        "The path of a file that names the symbol. Needs repoName, line and column. Only places that mean this symbol are returned, each with its certainty. In a language without rules, every place with the name is returned as possible.",
      example: "src/cart.ts",
    }),
    line: z.int().min(1).max(MOST_LINES).optional().openapi({
      description: "The 1-based line of the name.",
    }),
    column: z.int().min(1).max(MOST_LINES).optional().openapi({
      description: "The 1-based column of the name, in code points.",
    }),
    atLeast: certainty.optional().openapi({
      description: "The least certainty of the returned places. Needs fileName.",
    }),
    after: z.string().optional().openapi({
      description: "The nextCursor of a response, to request the places after it. Needs fileName.",
    }),
  })
  .openapi("SymbolRequest", NEEDS);

const symbolMatch = z
  .object({
    lineContent: z.string().openapi({
      description: "The line on which the match begins; if it is long, a part around the match.",
    }),
    lineContentStart: position.optional().openapi({
      description:
        "The position at which lineContent begins, if that is not the start of the line.",
    }),
    range,
    certainty: certainty.optional().openapi({
      description: "How certain it is that the place means the symbol. Set with fileName.",
    }),
    use: z.enum(NAVIGATION_USES).optional().openapi({
      description: "What the place does with the symbol. Set with fileName, if it is known.",
    }),
    why: z.string().optional().openapi({
      description: "The reason for the certainty. Set with fileName.",
    }),
    inside: resultSymbol.optional().openapi({
      description: "The innermost definition around the place; of a definition, its parent.",
    }),
  })
  .openapi("SymbolMatch");

const symbolFile = z
  .object({
    fileName: z.string(),
    repository: z.string(),
    repositoryId: id,
    webUrl: z.string(),
    language: z.string(),
    matches: z.array(symbolMatch),
  })
  .openapi("SymbolFile");

const counts = z
  .object({
    resolved: count("Places that rules of the language lead to the definition."),
    likely: count("Places whose file can know only one declaration of the name."),
    possible: count("Places with the name, whose meaning is not known."),
  })
  .openapi("CertaintyCounts");

const leftOut = z
  .object({
    otherDeclarations: count("Places that mean another declaration of the name."),
    comments: count("Places in comments."),
    strings: count("Places in texts."),
  })
  .openapi("LeftOutPlaces");

export const symbolResponse = z
  .object({
    stats: z.object({ matchCount: count("The total in the index, even if not all are listed.") }),
    isSearchExhaustive: z.boolean().openapi({
      description:
        "False if not all are listed, the search timed out, or the symbols of some files are not indexed yet.",
    }),
    files: z.array(symbolFile),
    repositoryInfo: z.array(repositoryInfo),
    targets: z.array(symbolFile).optional().openapi({
      description: "The definitions of the symbol. Set with fileName, if the language has rules.",
    }),
    counts: counts.optional().openapi({
      description: "The places of each certainty, on all pages. Set with targets.",
    }),
    leftOut: leftOut.optional().openapi({
      description: "Places that have the name and are no answer. Set with targets.",
    }),
    filesResolved: count("Files whose names were resolved by rules. Set with targets.").optional(),
    nextCursor: z.string().optional().openapi({
      description: "Requests the next places. Absent if there are no more.",
    }),
  })
  .openapi("SymbolResponse");

export type SymbolRequest = z.infer<typeof symbolRequest>;
export type SymbolResponse = z.infer<typeof symbolResponse>;
export type SymbolFile = z.infer<typeof symbolFile>;
export type SymbolMatch = z.infer<typeof symbolMatch>;

/** Fails to compile if a schema and its type differ. */
export type SchemasAgree = All<
  [
    Same<typeof counts, NavigationAnswer["counts"]>,
    Same<typeof leftOut, NavigationAnswer["leftOut"]>,
    Same<typeof resultSymbol, NonNullable<NavigationPlace["inside"]>>,
  ]
>;
