/** Searches, streams and symbols. */

import type { FindResponse } from "../../src/find/request.ts";
import { expect } from "vitest";
import { events } from "./interface.ts";
import { asks, needle, type Row } from "./rows.ts";
import { bearer, mint, post } from "./service.ts";

const search = ["post", "/api/search"] as [string, string];
const stream = ["post", "/api/stream_search"] as [string, string];
const definitions = ["post", "/api/find_definitions"] as [string, string];
const references = ["post", "/api/find_references"] as [string, string];

/** The place of a call in acme/open. */
const NEEDLE_CALL = { symbolName: "needle", fileName: "src/a.ts", line: 4, column: 17 };

interface PlacedFile {
  fileName: string;
  webUrl: string;
  matches: {
    lineContent: string;
    range: { start: { lineNumber: number } };
    certainty: string;
    use?: string;
  }[];
}

interface Placed {
  files: PlacedFile[];
  targets?: PlacedFile[];
}

const showPlaced = (files: readonly PlacedFile[] = []): string[] =>
  files.flatMap(({ fileName, matches }) =>
    matches.map(
      ({ range, certainty, use }) => `${fileName}:${range.start.lineNumber} ${certainty} ${use}`,
    ),
  );

interface Found {
  files: { repository: string; fileName: { text: string } }[];
  stats: { totalMatchCount: number };
}
export const SEARCH_ROWS: Row[] = [
  // ── search ──
  {
    name: "search finds",
    operation: search,
    request: asks("/api/search", needle),
    status: 200,
    check: (body: Found) => {
      expect(body.stats.totalMatchCount).toBe(11);
      expect(body.files.length).toBe(7);
    },
  },
  {
    name: "search takes JSON under any content type",
    operation: search,
    request: ({ keys }) => [
      "/api/search",
      post(needle, { ...bearer(keys.ada), "Content-Type": "text/plain" }),
    ],
    status: 200,
  },
  {
    name: "search says which of the named repositories are not there",
    operation: search,
    request: asks("/api/search", { ...needle, query: "reposet:acme/open,no/such,é needle" }),
    status: 200,
    check: (_: unknown, headers) => {
      expect(headers.get("x-quern-not-indexed")).toBe("no/such, %C3%A9");
    },
  },
  {
    name: "search of matches: 0 counts",
    operation: search,
    request: asks("/api/search", { ...needle, matches: 0 }),
    status: 200,
    check: (body: Found) => {
      expect([body.files.length, body.stats.totalMatchCount]).toEqual([0, 11]);
    },
  },
  {
    name: "a query that does not parse",
    operation: search,
    request: asks("/api/search", { ...needle, query: "a file:(" }),
    status: 400,
    code: "FAILED_TO_PARSE_QUERY",
    check: (body: { message: string }) => {
      expect(body.message).toMatch(/at position 7/);
      expect(body.message.split("\n").slice(-2)).toEqual(["  a file:(", "         ^"]);
    },
  },
  {
    name: "an expression that does not parse",
    operation: search,
    request: asks("/api/search", { ...needle, query: "[", isRegexEnabled: true }),
    status: 400,
    code: "FAILED_TO_PARSE_QUERY",
  },
  {
    name: "an expression that is too large",
    operation: search,
    request: asks("/api/search", { ...needle, query: "x{1001}", isRegexEnabled: true }),
    status: 400,
    code: "FAILED_TO_PARSE_QUERY",
  },
  {
    name: "an unknown context",
    operation: search,
    request: asks("/api/search", { ...needle, query: "context:nope x" }),
    status: 404,
    code: "SEARCH_CONTEXT_NOT_FOUND",
  },
  {
    name: "a body with a wrong field",
    operation: search,
    request: asks("/api/search", { ...needle, contextLines: 1001 }),
    status: 400,
    code: "INVALID_REQUEST_BODY",
    check: (body: { message: string }) => expect(body.message).toContain("contextLines"),
  },
  {
    name: "more matches than the host allows",
    operation: search,
    request: asks("/api/search", { ...needle, matches: 100_001 }),
    status: 400,
    code: "INVALID_REQUEST_BODY",
    check: (body: { message: string }) => expect(body.message).toContain("100000"),
  },
  {
    name: "a body over the limit",
    operation: search,
    request: asks("/api/search", { ...needle, query: "x".repeat(1 << 20) }),
    status: 413,
    code: "BODY_TOO_LARGE",
  },
  {
    name: "no credential",
    operation: search,
    request: () => ["/api/search", post(needle)],
    status: 401,
    code: "NOT_AUTHENTICATED",
    check: (_: unknown, headers) => expect(headers.get("www-authenticate")).toBe("Bearer"),
  },

  // ── streams ──
  {
    name: "a stream ends with final and [DONE]",
    operation: stream,
    request: asks("/api/stream_search", needle),
    status: 200,
    check: (text: string) => {
      expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
      const types = events(text).map(({ type }) => type);
      expect(new Set(types.slice(0, -1))).toEqual(new Set(["chunk"]));
      expect(types.at(-1)).toBe("final");
    },
  },
  {
    name: "a stream says before its first event which of the named repositories are not there",
    operation: stream,
    request: asks("/api/stream_search", { ...needle, query: "repo:no/such needle" }),
    status: 200,
    check: (_: unknown, headers) => {
      expect(headers.get("x-quern-not-indexed")).toBe("no/such");
    },
  },
  {
    name: "a stream whose query does not parse is no stream",
    operation: stream,
    request: asks("/api/stream_search", { ...needle, query: " " }),
    status: 400,
    code: "FAILED_TO_PARSE_QUERY",
  },

  // ── explanations ──
  {
    name: "explain says what would find something",
    operation: ["post", "/api/explain"],
    request: asks("/api/explain", {
      query: "NEEDLE",
      matches: 1,
      isCaseSensitivityEnabled: true,
    }),
    status: 200,
    check: (body: { suggestions: object[] }) => {
      expect(body.suggestions).toMatchObject([{ change: "ignore-case", totalMatchCount: 11 }]);
    },
  },
  {
    name: "explain counts what the caller sees, and tells nothing of segments",
    operation: ["post", "/api/explain"],
    request: async (service) => {
      const { token } = await mint(service, service.keys.ada, [service.ids["acme/open"]!]);
      return ["/api/explain", post(needle, bearer(token))];
    },
    status: 200,
    check: (body: { stats: { totalMatchCount: number } }) => {
      expect(body.stats.totalMatchCount).toBe(8);
      expect(body).not.toHaveProperty("segments");
    },
  },
  {
    name: "explain says which of the named repositories are not there",
    operation: ["post", "/api/explain"],
    request: asks("/api/explain", { query: "reposet:no/such needle", matches: 1 }),
    status: 200,
    check: (body: { notIndexed: object[] }) => {
      expect(body.notIndexed).toEqual([{ repository: "no/such", reason: "unknown" }]);
    },
  },
  {
    name: "an unknown context to explain",
    operation: ["post", "/api/explain"],
    request: asks("/api/explain", { ...needle, query: "context:nope x" }),
    status: 404,
    code: "SEARCH_CONTEXT_NOT_FOUND",
  },
  {
    name: "a query to explain that does not parse",
    operation: ["post", "/api/explain"],
    request: asks("/api/explain", { ...needle, query: "a file:(" }),
    status: 400,
    code: "FAILED_TO_PARSE_QUERY",
  },

  // ── questions ──
  {
    name: "find returns places with absolute addresses",
    operation: ["post", "/api/find"],
    request: asks("/api/find", { text: "needle", query: "lang:typescript", places: 2 }),
    status: 200,
    check: ({ places, isComplete }: FindResponse) => {
      expect(isComplete).toBe(true);
      expect(places.length).toBeGreaterThan(0);
      for (const { webUrl, language } of places)
        expect([webUrl, language]).toEqual([expect.stringMatching(/^http/), "TypeScript"]);
    },
  },
  {
    name: "find sees only what the caller sees",
    operation: ["post", "/api/find"],
    request: async (service) => {
      const { token } = await mint(service, service.keys.ada, [service.ids["acme/open"]!]);
      return ["/api/find", post({ text: "needle", places: 100 }, bearer(token))];
    },
    status: 200,
    check: ({ places }: FindResponse) => {
      expect(new Set(places.map(({ repository }) => repository))).toEqual(new Set(["acme/open"]));
    },
  },
  {
    name: "a question without a word",
    operation: ["post", "/api/find"],
    request: asks("/api/find", { text: " " }),
    status: 400,
    code: "INVALID_REQUEST_BODY",
  },
  {
    name: "a filter of a question that does not parse",
    operation: ["post", "/api/find"],
    request: asks("/api/find", { text: "needle", query: "file:(" }),
    status: 400,
    code: "FAILED_TO_PARSE_QUERY",
  },
  {
    name: "an unknown context of a question",
    operation: ["post", "/api/find"],
    request: asks("/api/find", { text: "needle", query: "context:nope" }),
    status: 404,
    code: "SEARCH_CONTEXT_NOT_FOUND",
  },

  // ── symbols ──
  {
    name: "definitions", // symbols.long.test.ts says which ones
    operation: definitions,
    request: asks("/api/find_definitions", { symbolName: "needle", language: "JavaScript" }),
    status: 200,
  },
  {
    name: "references in one repository, word-bounded and case-sensitive",
    operation: references,
    request: asks("/api/find_references", {
      symbolName: "needle",
      repoName: "acme/open",
      language: "ts",
    }),
    status: 200,
    check: (body: { stats: object; files: { fileName: string; matches: object[] }[] }) => {
      expect(body.stats).toEqual({ matchCount: 5 });
      const found = body.files.map(({ fileName, matches }) => `${fileName} ${matches.length}`);
      expect(new Set(found)).toEqual(new Set(["src/a.ts 3", "src/deep/b.ts 2"]));
    },
  },
  {
    name: "references in another case: none",
    operation: references,
    request: asks("/api/find_references", { symbolName: "Needle" }),
    status: 200,
    check: (body: { stats: object }) => expect(body.stats).toEqual({ matchCount: 0 }),
  },
  {
    name: "references of a symbol by its place",
    operation: references,
    request: asks("/api/find_references", { ...NEEDLE_CALL, repoName: "acme/open" }),
    status: 200,
    check: (body: Placed) => {
      expect(showPlaced(body.targets)).toEqual(["src/a.ts:1 resolved definition"]);
      expect(showPlaced(body.files)).toEqual([
        "src/a.ts:4 resolved call",
        "src/a.ts:4 resolved call",
        "src/deep/b.ts:1 resolved import",
        "src/deep/b.ts:2 resolved call",
      ]);
      expect(body).toMatchObject({
        stats: { matchCount: 4 },
        isSearchExhaustive: true,
        counts: { resolved: 4, likely: 0, possible: 0 },
        leftOut: { otherDeclarations: 0, comments: 0, strings: 0 },
        filesResolved: 2,
      });
      expect(body.files[0]!.matches[0]!.lineContent).toBe("const needles = needle() + needle();");
      expect(body.files[1]!.webUrl).toMatch(/^http:.*b\.ts$/);
    },
  },
  {
    name: "the definition of a symbol by its place",
    operation: definitions,
    request: asks("/api/find_definitions", { ...NEEDLE_CALL, repoName: "acme/open" }),
    status: 200,
    check: (body: Placed) =>
      expect(showPlaced(body.files)).toEqual(["src/a.ts:1 resolved definition"]),
  },
  {
    name: "a place in a language without rules leads to the name",
    operation: references,
    request: asks("/api/find_references", {
      ...NEEDLE_CALL,
      repoName: "acme/open",
      fileName: "src/deep/c.c",
      atLeast: "resolved",
    }),
    status: 200,
    check: (body: Placed) => {
      expect(body.targets).toBe(undefined);
      expect(showPlaced(body.files)).toContain("src/a.ts:4 possible undefined");
    },
  },
  ...[
    { fileName: "src/a.ts" },
    { fileName: "src/a.ts", line: 4, column: 17 },
    { repoName: "acme/open", line: 4 },
    { repoName: "acme/open", atLeast: "likely" },
    { repoName: "acme/open", after: "x" },
    { ...NEEDLE_CALL, repoName: "acme/open", line: 0 },
    { ...NEEDLE_CALL, repoName: "acme/open", column: 1e10 },
    { ...NEEDLE_CALL, repoName: "acme/open", atLeast: "exact?" },
    { ...NEEDLE_CALL, repoName: "acme/open", after: "x" },
    { ...NEEDLE_CALL, repoName: "acme/open", line: 99 },
    { ...NEEDLE_CALL, repoName: "acme/open", fileName: "src/none.ts" },
    { ...NEEDLE_CALL, repoName: "acme/open", revisionName: "none" },
  ].map((fields): Row => ({
    name: `references at ${JSON.stringify(fields)}`,
    operation: references,
    request: asks("/api/find_references", { symbolName: "needle", ...fields }),
    status: 400,
    code: "INVALID_REQUEST_BODY",
  })),
  ...[definitions, references].flatMap(([method, path]): Row[] => [
    {
      name: `${path} of no repository`,
      operation: [method, path],
      request: asks(path, { symbolName: "x", repoName: "no/such" }),
      status: 404,
      code: "REPOSITORY_NOT_FOUND",
    },
    {
      name: `${path} of an empty name`,
      operation: [method, path],
      request: asks(path, { symbolName: "" }),
      status: 400,
      code: "INVALID_REQUEST_BODY",
    },
  ]),
];
