/**
 * Defines the JSON of the HTTP interface as schemas. Requests are checked against these schemas, and the OpenAPI
 * document is built from them. At the end of this file, the compiler compares them with the types of the library.
 */

import { z } from "@hono/zod-openapi";
import { wholeNumber } from "../base/must-be.ts";
import type * as response from "../search/messages/response.ts";
import type { Repository } from "../repository.ts";
import type { SearchRequest } from "../search/messages/request.ts";
import type { FlushReason, SearchStats } from "../search/messages/stats.ts";
import { zeroStats } from "../search/messages/stats.ts";
import { CODE_HOST_TYPES } from "../store/format/records.ts";
import { SYMBOL_KINDS } from "../store/symbols/symbol-kinds.ts";
import { STATUS, type ErrorBody, type RefusalCode } from "./refusal.ts";

export const count = (description: string) => z.int().min(0).openapi({ description });
const date = (description: string) => z.iso.datetime().openapi({ description });
export const id = z.int().min(0).openapi({ description: "Never changes and is never reused." });

// ── search ──

const MOST_CONTEXT_LINES = 1000;
const MOST_FACET_VALUES = 1000;

export const searchRequest = (maxMatches: number) =>
  z
    .object({
      query: z.string().openapi({
        description: "See the query language.",
        example: "lang:go needle",
        pattern: "\\S",
      }),
      matches: z
        .int()
        .min(0)
        .max(maxMatches)
        .openapi({
          description:
            "The maximum number of ranges in the response. 0 returns no files, but exact counts.",
          example: Math.min(50, maxMatches),
        }),
      matchesPerFile: z.int().min(1).optional().openapi({
        description:
          "The maximum number of ranges of each file; the best lines come first. The totals stay exact. Default: all.",
      }),
      after: z.string().optional().openapi({
        description:
          'Requests a page: "" for the first one, the nextCursor of a response for the next one. Not for streams.',
      }),
      facets: z.int().min(1).max(MOST_FACET_VALUES).optional().openapi({
        description:
          "Counts the files that match by repository, language and folder, and returns at most this many values of each. Not for streams.",
      }),
      contextLines: z.int().min(0).max(MOST_CONTEXT_LINES).optional().openapi({
        description: "Lines of context before and after each match. Default 0.",
      }),
      whole: z.boolean().optional().openapi({
        description: "Whether every returned file has its whole content. Default false.",
      }),
      enclosing: z.boolean().optional().openapi({
        description: "Whether chunks name the definitions around their matches. Default false.",
      }),
      isRegexEnabled: z.boolean().optional().openapi({
        description: "Whether terms are regular expressions (RE2). Default false.",
      }),
      isCaseSensitivityEnabled: z.boolean().optional().openapi({ description: "Default false." }),
    })
    .openapi("SearchRequest");

/** The request of a stream. The library rejects the fields that are not for streams, and says why. */
export const streamRequest = (maxMatches: number) =>
  searchRequest(maxMatches)
    .extend({
      after: z.string().optional().openapi({ not: {}, description: "Not for streams." }),
      facets: z.int().min(1).optional().openapi({ not: {}, description: "Not for streams." }),
    })
    .openapi("StreamRequest");

/** What a revision must look like, for the document. checkRevision() checks it, and says what is wrong. */
const WITHOUT_CONTROLS = "[^\\u0000-\\u001f\\u007f-\\u009f]*$";
export const REVISION_PATTERN = { minLength: 1, pattern: `^(?!-)${WITHOUT_CONTROLS}` };
export const REVISION_OR_EMPTY = { pattern: `^(?!-)${WITHOUT_CONTROLS}` };

export const position = z
  .object({
    byteOffset: count("0-based, in the UTF-8 bytes of the file (of the path, for file names)."),
    lineNumber: z.int().min(1).openapi({ description: "1-based." }),
    column: z.int().min(1).openapi({ description: "1-based, in code points." }),
  })
  .openapi("Position");

export const range = z.object({ start: position, end: position }).openapi("Range", {
  description: "The end is exclusive.",
});

const symbolKind = z.enum(SYMBOL_KINDS);

export const resultSymbol = z
  .object({
    symbol: z.string(),
    kind: symbolKind,
    parent: z.object({ symbol: z.string(), kind: symbolKind }).optional(),
  })
  .openapi("Symbol");

const chunk = z
  .object({
    content: z.string(),
    matchRanges: z.array(range),
    contentStart: position,
    symbols: z.array(resultSymbol).optional(),
    enclosing: z.array(resultSymbol.nullable()).optional().openapi({
      description:
        "For each range, the definition around its first line, by the layout of the code; null: none. Set if the request asked for it.",
    }),
    side: z.enum(["added", "removed"]).optional().openapi({
      description: "The side of the change. Set for queries with type:diff.",
    }),
  })
  .openapi("Chunk");

const resultCommit = z
  .object({
    hash: z.string(),
    parents: z.array(z.string()),
    authorName: z.string(),
    authorEmail: z.string(),
    date: z.string().openapi({ description: "The committer date in ISO 8601." }),
    message: z.string(),
  })
  .openapi("ResultCommit");

const fileResult = z
  .object({
    fileName: z.object({ text: z.string(), matchRanges: z.array(range) }),
    webUrl: z.string(),
    externalWebUrl: z.string().optional(),
    repository: z.string(),
    repositoryId: id,
    language: z
      .string()
      .openapi({ description: "The language by linguist's name, or empty if unknown." }),
    chunks: z.array(chunk),
    branches: z.array(z.string()).optional(),
    content: z.string().optional(),
    commit: resultCommit.optional().openapi({
      description: "The commit. Set for queries with type:diff or type:commit.",
    }),
  })
  .openapi("FileResult");

const codeHostType = z.enum(CODE_HOST_TYPES).openapi("CodeHostType");

export const repositoryInfo = z
  .object({
    id,
    codeHostType,
    name: z.string(),
    displayName: z.string().optional(),
    webUrl: z.string().optional(),
  })
  .openapi("RepositoryInfo");

const FLUSH_REASONS = [
  "FLUSH_REASON_FINAL_FLUSH",
  "FLUSH_REASON_TIMER_EXPIRED",
] as const satisfies readonly FlushReason[];

type Counter = Exclude<keyof SearchStats, "flushReason">;
const COUNTERS = Object.keys(zeroStats()).filter((name): name is Counter => name !== "flushReason");

export const searchStats = z
  .object({
    ...(Object.fromEntries(COUNTERS.map((name) => [name, z.int().min(0)])) as Record<
      Counter,
      z.ZodInt
    >),
    flushReason: z.enum(FLUSH_REASONS),
  })
  .openapi("SearchStats", {
    description: "Times are in nanoseconds. A shard is a segment of the index.",
  });

const isSearchExhaustive = z.boolean().openapi({
  description: "True if and only if every match is in the response.",
});
const found = {
  stats: searchStats,
  files: z.array(fileResult),
  repositoryInfo: z.array(repositoryInfo),
};

const facet = (what: string) =>
  z
    .object({
      values: z.array(z.object({ value: z.string(), fileCount: count("Files that match.") })),
      more: count("Values besides those listed."),
    })
    .openapi({ description: what });

const facets = z
  .object({
    repositories: facet("By the name of their repository."),
    languages: facet("By their language, where it is known."),
    folders: facet("By their first folder and their first two, where all are of one repository."),
  })
  .openapi("Facets");

export const searchResponse = z
  .object({
    ...found,
    isSearchExhaustive,
    facets: facets.optional(),
    nextCursor: z.string().optional().openapi({
      description:
        "`after` of the next page. Present only if `after` was given and there are more results.",
    }),
    indexChanged: z.literal(true).optional().openapi({
      description:
        "Present only if `after` was a cursor and the results that the caller may see have changed since that page.",
    }),
  })
  .openapi("SearchResponse");

const errorCodes = Object.keys(STATUS) as [RefusalCode, ...RefusalCode[]];
export const errorBody = z
  .object({
    statusCode: z.literal([...new Set(Object.values(STATUS))]).openapi({ type: "integer" }),
    errorCode: z.enum(errorCodes),
    message: z.string(),
  })
  .openapi("Error");

const chunkEvent = z.object({ type: z.literal("chunk"), ...found }).openapi("ChunkEvent", {
  description: "Files that were found, with the counters that they add.",
});
const finalEvent = z
  .object({ type: z.literal("final"), accumulatedStats: searchStats, isSearchExhaustive })
  .openapi("FinalEvent");
const errorEvent = z.object({ type: z.literal("error"), error: errorBody }).openapi("ErrorEvent", {
  description: "The last event of a stream that failed after its start.",
});

/** The content of the `data:` lines of a stream. */
export const streamEvent = z
  .discriminatedUnion("type", [chunkEvent, finalEvent, errorEvent])
  .openapi("StreamEvent");

// ── repositories, files, trees ──

const REPOSITORY_SORTS = ["name", "pushed", "indexed"] as const;

/**
 * Returns the schema of a number in the query of a URL. It accepts only digits, whereas Number() would also accept
 * "0x1e", " 3" and "".
 */
export const digits = (fallback: number, most: number) => {
  const wants = `must be ${wholeNumber(1, most)}`;
  return z
    .string()
    .regex(/^[0-9]{1,9}$/, wants)
    .transform(Number)
    .pipe(z.int().min(1, wants).max(most, wants))
    .optional()
    .openapi({ type: "integer", minimum: 1, maximum: most, default: fallback });
};

export const repositoriesQuery = z.object({
  page: digits(1, 999_999_999),
  perPage: digits(30, 100),
  sort: z.enum(REPOSITORY_SORTS).default("name"),
  direction: z.enum(["asc", "desc"]).default("asc"),
  query: z.string().optional().openapi({
    description: "Only repositories whose name or display name contains this, in any case.",
  }),
  connectionId: z
    .string()
    .regex(/^[0-9]{1,9}$/, "must be a whole number")
    .transform(Number)
    .optional()
    .openapi({
      type: "integer",
      minimum: 0,
      maximum: 999_999_999,
      description: "Only repositories of this connection.",
    }),
});

const repository = z
  .object({
    repoId: id,
    repoName: z.string(),
    codeHostType,
    webUrl: z.string().openapi({
      description: "The repository's page on its code host, or else on this service.",
    }),
    repoDisplayName: z.string().optional(),
    externalWebUrl: z.string().optional(),
    indexedAt: date("When it was indexed last.").optional(),
    pushedAt: date("Commit time of the default revision, if it is known.").optional(),
    defaultBranch: z.string().optional(),
    isFork: z.boolean(),
    isArchived: z.boolean(),
  })
  .openapi("Repository");

export const repositoryList = z.array(repository);

export const revisionsQuery = z.object({ repo: z.string() });

export const revisionList = z.array(
  z
    .object({
      name: z.string(),
      commit: z
        .string()
        .optional()
        .openapi({ description: "The full commit id, if there is one." }),
      files: count("Files that are found by path."),
      isDefault: z.boolean().openapi({ description: "Whether queries without `rev:` search it." }),
    })
    .openapi("Revision"),
);

export const sourceQuery = z.object({
  repo: z.string(),
  path: z.string(),
  ref: z
    .string()
    .optional()
    .openapi({
      ...REVISION_PATTERN,
      description: "Any revision. Default: the indexed default revision.",
    }),
});

export const sourceResponse = z
  .object({
    source: z.string(),
    language: z.string(),
    path: z.string(),
    repo: z.string(),
    repoCodeHostType: codeHostType,
    webUrl: z.string(),
    externalWebUrl: z.string().optional(),
  })
  .openapi("FileSource");

export const treeRequest = z
  .object({
    repoName: z.string(),
    revisionName: z.string().openapi({
      ...REVISION_OR_EMPTY,
      description: "Any revision. If empty or HEAD, the indexed default revision.",
    }),
    paths: z.array(z.string()).openapi({
      description: "Folders to open, including those above them. Other paths are ignored.",
    }),
  })
  .openapi("TreeRequest");

const treeNode = z
  .object({
    type: z.enum(["tree", "blob", "commit"]),
    path: z.string(),
    name: z.string(),
    get children() {
      return z.array(treeNode);
    },
  })
  .openapi("TreeNode", {
    description: "Folders before files, each by name. The type commit means a submodule.",
  });

export const treeResponse = z.object({ tree: treeNode }).openapi("Tree");

// ── tokens ──

export const mintRequest = z
  .strictObject({
    repoIds: z
      .array(z.int().min(0))
      .min(1)
      .openapi({ example: [1, 2] }),
  })
  .openapi("ScopedAccessTokenRequest");

export const mintResponse = z
  .object({
    id: z.string().openapi({ description: "The id, for revoking the token." }),
    token: z.string().openapi({ description: "The secret, returned only once." }),
    createdAt: date("Now."),
    expiresAt: date("When it expires."),
    repoIds: z.array(id),
  })
  .openapi("ScopedAccessToken");

export const tokenPath = z.object({
  id: z.string().openapi({
    param: { name: "id", in: "path" },
    description: "The id that was returned when the token was minted.",
  }),
});

// ── the service ──

export const modelList = z.array(z.string());
export const versionResponse = z.object({ version: z.string() }).openapi("Version");
export const openApiDocument = z.object({ openapi: z.string() }).loose().openapi("OpenApi");
export const metricsText = z.string().openapi("Metrics");
export const healthResponse = z.object({ status: z.literal("ok") }).openapi("Health");

// ── schemas and library types are the same ──

// JSON has no undefined, so an optional field is absent and never undefined
type Present<T> = T extends readonly (infer Item)[]
  ? Present<Item>[]
  : T extends object
    ? { [Name in keyof T]: Present<Exclude<T[Name], undefined>> }
    : T;
/** True if a schema and a library type describe the same values. */
export type Same<Schema extends z.ZodType, Type> = [Present<z.infer<Schema>>] extends [
  Present<Type>,
]
  ? [Present<Type>] extends [Present<z.infer<Schema>>]
    ? true
    : false
  : false;
export type All<Checks extends true[]> = Checks;

/** Fails to compile if a schema and its type differ. */
export type SchemasAgree = All<
  [
    Same<ReturnType<typeof searchRequest>, SearchRequest>,
    Same<typeof searchResponse, response.SearchResponse>,
    Same<typeof revisionList, Repository["revisions"]>,
    Same<typeof chunkEvent, Extract<response.SearchEvent, { type: "chunk" }>>,
    Same<typeof finalEvent, Extract<response.SearchEvent, { type: "final" }>>,
    Same<typeof repositoryInfo, response.RepositoryInfo>,
    Same<typeof errorBody, ErrorBody>,
  ]
>;
