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
