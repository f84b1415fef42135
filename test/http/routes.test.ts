/** Every row of the tables of routes and errors, through every way a host serves them. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { QuernError } from "../../src/base/errors.ts";
import type { Engine } from "../../src/engine.ts";
import { STATUS } from "../../src/http/refusal.ts";
import { openEngine } from "./engine.ts";
import { events, readInterface, type Document, type Interface } from "./interface.ts";
import { MOUNTS, type Mounted } from "./mounts.ts";
import { bearer, FIXTURES, mint, post, startService, type Service } from "./service.ts";

interface Row {
  name: string;
  /** Of the OpenAPI document; absent: the request matches no operation. */
  operation?: [method: string, path: string];
  request: (
    service: Service,
  ) => [path: string, init?: RequestInit] | Promise<[string, RequestInit?]>;
  status: number;
  /** Of an error. */
  code?: keyof typeof STATUS;
  check?: (body: never, headers: Headers, service: Service) => void;
}

const search = ["post", "/api/search"] as [string, string];
const stream = ["post", "/api/stream_search"] as [string, string];
const definitions = ["post", "/api/find_definitions"] as [string, string];
const references = ["post", "/api/find_references"] as [string, string];
const repos = ["get", "/api/repos"] as [string, string];
const source = ["get", "/api/source"] as [string, string];
const tree = ["post", "/api/tree"] as [string, string];
const minting = ["post", "/api/ee/scoped_access_token"] as [string, string];
const revoking = ["delete", "/api/ee/scoped_access_token/{id}"] as [string, string];
const users = ["get", "/api/ee/users"] as [string, string];

const asks =
  (path: string, body: unknown, who: keyof Service["keys"] = "ada") =>
  ({ keys }: Service): [string, RequestInit] => [path, post(body, bearer(keys[who]))];
const gets =
  (path: string, who: keyof Service["keys"] = "ada") =>
  ({ keys }: Service): [string, RequestInit] => [path, { headers: bearer(keys[who]) }];
const needle = { query: "needle", matches: 100 };

interface Found {
  files: { repository: string; fileName: { text: string } }[];
  stats: { totalMatchCount: number };
}
const names = (list: { repoName: string }[]) => list.map(({ repoName }) => repoName);

const ROWS: Row[] = [
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
    name: "a bug below",
    operation: search,
    request: asks("/api/search", { ...needle, query: "boom" }),
    status: 500,
    code: "UNEXPECTED_ERROR",
    check: (body: { message: string }, _headers, service) => {
      expect(body.message).not.toContain("/srv/secret");
      expect(String(service.events.at(-1)?.detail)).toContain("/srv/secret");
    },
  },
  {
    name: "an engine that closes",
    operation: search,
    request: asks("/api/search", { ...needle, query: "closing" }),
    status: 503,
    code: "OVERLOADED",
    check: (_: unknown, headers) => expect(headers.get("retry-after")).toBe("1"),
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
    name: "a stream whose query does not parse is no stream",
    operation: stream,
    request: asks("/api/stream_search", { ...needle, query: " " }),
    status: 400,
    code: "FAILED_TO_PARSE_QUERY",
  },
  {
    name: "a stream that fails on its way says so in an event",
    operation: stream,
    request: asks("/api/stream_search", { ...needle, query: "later" }),
    status: 200,
    check: (text: string) => {
      expect(events(text).map(({ type }) => type)).toEqual(["chunk", "error"]);
      expect(events(text)[1]).toMatchObject({
        error: { statusCode: 500, errorCode: "UNEXPECTED_ERROR" },
      });
    },
  },

  // ── symbols ──
  {
    name: "definitions",
    operation: definitions,
    request: asks("/api/find_definitions", { symbolName: "needle", language: "JavaScript" }),
    status: 200,
    check: (body: {
      stats: object;
      files: { fileName: string; matches: { lineContent: string }[] }[];
    }) => {
      expect(body.stats).toEqual({ matchCount: 2 });
      expect(body.files.map(({ fileName }) => fileName)).toEqual(["src/a.ts", "src/a.ts"]);
      const lines = body.files.flatMap(({ matches }) =>
        matches.map(({ lineContent }) => lineContent),
      );
      expect(lines.toSorted((a, b) => a.length - b.length)).toEqual([
        "function needle() {}",
        "export function needle(): number {",
      ]);
    },
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
    name: "symbols of no repository",
    operation: definitions,
    request: asks("/api/find_definitions", { symbolName: "x", repoName: "no/such" }),
    status: 404,
    code: "REPOSITORY_NOT_FOUND",
  },
  {
    name: "an empty symbol",
    operation: definitions,
    request: asks("/api/find_definitions", { symbolName: "" }),
    status: 400,
    code: "INVALID_REQUEST_BODY",
  },

  // ── repositories ──
  {
    name: "repositories by name",
    operation: repos,
    request: gets("/api/repos"),
    status: 200,
    check: (body: { repoName: string }[], headers) => {
      expect(names(body)).toEqual(["acme/open", "acme/other", "acme/secret"]);
      expect(body[0]).toMatchObject({
        codeHostType: "github",
        repoDisplayName: "Open Tools",
        webUrl: "https://github.com/acme/open",
        isFork: false,
        isArchived: false,
        defaultBranch: "HEAD",
      });
      expect(headers.get("x-total-count")).toBe("3");
      expect(headers.get("link")).toBe(null);
    },
  },
  {
    name: "the last page of repositories",
    operation: repos,
    request: gets("/api/repos?perPage=1&page=3&direction=desc&sort=name"),
    status: 200,
    check: (body: { repoName: string }[], headers) => {
      expect(names(body)).toEqual(["acme/open"]);
      expect(headers.get("link")).toMatch(/page=1.*rel="first".*page=2.*rel="prev"$/);
    },
  },
  {
    name: "a page beyond the last",
    operation: repos,
    request: gets("/api/repos?page=999999999&perPage=100"),
    status: 200,
    check: (body: unknown[], headers) => {
      expect(body).toEqual([]);
      expect(headers.get("x-total-count")).toBe("3");
    },
  },
  {
    name: "repositories by a part of their display name",
    operation: repos,
    request: gets("/api/repos?query=TOOLS&sort=indexed"),
    status: 200,
    check: (body: { repoName: string }[]) => expect(names(body)).toEqual(["acme/open"]),
  },
  ...[
    "perPage=0",
    "perPage=101",
    "perPage=1.5",
    "perPage=",
    "page=0",
    "page=0x1",
    "sort=x",
    "direction=up",
    "page=1&page=2",
  ].map((query): Row => ({
    name: `repositories with ${query}`,
    operation: repos,
    request: gets(`/api/repos?${query}`),
    status: 400,
    code: "INVALID_REQUEST_BODY",
    check: (body: { message: string }) => expect(body.message).toContain(query.split("=")[0]),
  })),

  // ── files and trees ──
  {
    name: "a file",
    operation: source,
    request: gets("/api/source?repo=acme/open&path=src/deep/c.c&ref=HEAD"),
    status: 200,
    check: (body: object) =>
      expect(body).toMatchObject({
        source: "int needle(void);\n",
        language: "C",
        path: "src/deep/c.c",
        repo: "acme/open",
        repoCodeHostType: "github",
      }),
  },
  ...[
    "nope",
    "../etc/passwd",
    "src/../README.md",
    "/README.md",
    "src",
    "",
    "a%00b",
    "README.md%00",
    "%2e%2e/x",
    "a%5cb",
  ].map((path): Row => ({
    name: `no file ${path}`,
    operation: source,
    request: gets(`/api/source?repo=acme/open&path=${path}`),
    status: 404,
    code: "FILE_NOT_FOUND",
  })),
  {
    name: "a file of no revision",
    operation: source,
    request: gets("/api/source?repo=acme/open&path=README.md&ref=nope"),
    status: 404,
    code: "FILE_NOT_FOUND",
  },
  {
    name: "a file of no repository",
    operation: source,
    request: gets("/api/source?repo=no/such&path=README.md"),
    status: 404,
    code: "REPOSITORY_NOT_FOUND",
  },
  {
    name: "a file without a path",
    operation: source,
    request: gets("/api/source?repo=acme/open"),
    status: 400,
    code: "INVALID_REQUEST_BODY",
    check: (body: { message: string }) => expect(body.message).toContain("path"),
  },
  {
    name: "a tree with folders opened",
    operation: tree,
    request: asks("/api/tree", {
      repoName: "acme/open",
      revisionName: "HEAD",
      paths: ["src/deep", "nope/../..", "", "/lib/", "README.md"],
    }),
    status: 200,
    check: (body: { tree: Node }) =>
      expect(outline(body.tree)).toBe("root(lib(z.txt) src(deep(b.ts c.c) a.ts) README.md)"),
  },
  {
    name: "a tree with all folders closed",
    operation: tree,
    request: asks("/api/tree", { repoName: "acme/open", revisionName: "HEAD", paths: [] }),
    status: 200,
    check: (body: { tree: Node }) => expect(outline(body.tree)).toBe("root(lib() src() README.md)"),
  },
  {
    name: "a tree of no repository",
    operation: tree,
    request: asks("/api/tree", { repoName: "no", revisionName: "HEAD", paths: [] }),
    status: 404,
    code: "REPOSITORY_NOT_FOUND",
  },
  {
    name: "a tree of no revision",
    operation: tree,
    request: asks("/api/tree", { repoName: "acme/open", revisionName: "nope", paths: [] }),
    status: 404,
    code: "NOT_FOUND",
  },

  // ── scoped tokens ──
  {
    name: "minting",
    operation: minting,
    request: ({ keys, ids }) => [
      "/api/ee/scoped_access_token",
      post({ repoIds: [ids["acme/open"], ids["acme/open"]] }, bearer(keys.ada)),
    ],
    status: 201,
    check: (
      body: { token: string; createdAt: string; expiresAt: string; repoIds: number[] },
      _headers,
      { ids },
    ) => {
      expect(body.token).toMatch(/^qst_[0-9a-f]{64}$/);
      expect(body.repoIds).toEqual([ids["acme/open"]]);
      expect(Date.parse(body.expiresAt) - Date.parse(body.createdAt)).toBe(3_600_000);
    },
  },
  {
    name: "minting for an unknown repository",
    operation: minting,
    request: asks("/api/ee/scoped_access_token", { repoIds: [4_000_000] }),
    status: 400,
    code: "INVALID_REPOSITORY_SCOPE",
  },
  {
    name: "minting under another content type",
    operation: minting,
    request: ({ keys }) => [
      "/api/ee/scoped_access_token",
      post({ repoIds: [] }, { ...bearer(keys.ada), "Content-Type": "text/plain" }),
    ],
    status: 415,
    code: "UNSUPPORTED_MEDIA_TYPE",
  },
  {
    name: "minting with a scoped token",
    operation: minting,
    request: async (service) => {
      const { token } = await mint(service, service.keys.ada, []);
      return ["/api/ee/scoped_access_token", post({ repoIds: [] }, bearer(token))];
    },
    status: 403,
    code: "INSUFFICIENT_PERMISSIONS",
  },
  {
    name: "revoking with another key of the same owner",
    operation: revoking,
    request: async (service) => {
      const { id } = await mint(service, service.keys.ada, []);
      const headers = bearer(service.keys.ada2);
      return [`/api/ee/scoped_access_token/${id}`, { method: "DELETE", headers }];
    },
    status: 204,
  },
  {
    name: "revoking another's",
    operation: revoking,
    request: async (service) => {
      const { id } = await mint(service, service.keys.ada, []);
      const headers = bearer(service.keys.owner);
      return [`/api/ee/scoped_access_token/${id}`, { method: "DELETE", headers }];
    },
    status: 404,
    code: "SCOPED_ACCESS_TOKEN_NOT_FOUND",
  },
  {
    name: "revoking with a scoped token",
    operation: revoking,
    request: async (service) => {
      const { id, token } = await mint(service, service.keys.ada, []);
      return [`/api/ee/scoped_access_token/${id}`, { method: "DELETE", headers: bearer(token) }];
    },
    status: 403,
    code: "INSUFFICIENT_PERMISSIONS",
  },
  {
    name: "revoking without a credential",
    operation: revoking,
    request: () => ["/api/ee/scoped_access_token/x", { method: "DELETE" }],
    status: 401,
    code: "NOT_AUTHENTICATED",
  },

  // ── users ──
  {
    name: "users, for an owner",
    operation: users,
    request: gets("/api/ee/users", "owner"),
    status: 200,
    check: (body: { id: string; lastActivityAt: null }[]) => {
      expect(body.map(({ id }) => id)).toEqual(["ada", "bob", "owner"]);
      expect(body[0]).toHaveProperty("lastActivityAt", null);
    },
  },
  {
    name: "users, for a member",
    operation: users,
    request: gets("/api/ee/users"),
    status: 403,
    code: "INSUFFICIENT_PERMISSIONS",
  },
  {
    name: "users, for nobody",
    operation: users,
    request: () => ["/api/ee/users"],
    status: 401,
    code: "NOT_AUTHENTICATED",
  },

  // ── the service ──
  {
    name: "version",
    operation: ["get", "/api/version"],
    request: () => ["/api/version"],
    status: 200,
    check: (body: { version: string }) => expect(body.version).toMatch(/^\d+\.\d+\.\d+/),
  },
  {
    name: "health",
    operation: ["get", "/api/health"],
    request: () => ["/api/health"],
    status: 200,
    check: (body: object) => expect(body).toEqual({ status: "ok" }),
  },
  {
    name: "health, with a credential that is not good",
    operation: ["get", "/api/health"],
    request: () => ["/api/health", { headers: bearer("qrn_nope") }],
    status: 401,
    code: "NOT_AUTHENTICATED",
  },
  {
    name: "the document",
    operation: ["get", "/api/openapi.json"],
    request: () => ["/api/openapi.json"],
    status: 200,
    check: (body: { info: object }) => expect(body.info).toHaveProperty("version", "v5.1.7"),
  },
  {
    name: "another method",
    request: gets("/api/search"),
    status: 405,
    code: "METHOD_NOT_ALLOWED",
    check: (_: unknown, headers) => expect(headers.get("allow")).toBe("POST, OPTIONS"),
  },
  {
    name: "what a path takes",
    request: () => ["/api/repos", { method: "OPTIONS" }],
    status: 204,
    check: (_: unknown, headers) => expect(headers.get("allow")).toBe("GET, HEAD, OPTIONS"),
  },
  {
    name: "the head of an answer",
    request: ({ keys }) => ["/api/repos", { method: "HEAD", headers: bearer(keys.ada) }],
    status: 200,
    check: (text: string, headers) => {
      expect(text).toBe("");
      expect(headers.get("x-total-count")).toBe("3");
    },
  },
  ...[
    "/",
    "/api",
    "/api/",
    "/api/nope",
    "/api/search/",
    "/API/search",
    "/api/search/x",
    "//api/search",
  ].map((path): Row => ({
    name: `nothing at ${path}`,
    request: asks(path, needle),
    status: 404,
    code: "NOT_FOUND",
  })),
];

interface Node {
  name: string;
  type: string;
  children: Node[];
}
const outline = ({ name, type, children }: Node): string =>
  type === "blob" ? name : `${name}(${children.map(outline).join(" ")})`;

/** An engine that fails where a query says so. */
function failing(engine: Engine): Engine {
  const search: Engine["search"] = async (request, options) => {
    if (request.query === "boom") throw new Error("cannot read /srv/secret/data.mdb");
    if (request.query === "closing") throw new QuernError("ENGINE_CLOSED", "closed");
    return engine.search(request, options);
  };
  async function* stream(...[request, options]: Parameters<Engine["stream"]>) {
    if (request.query !== "later") return yield* engine.stream(request, options);
    for await (const event of engine.stream({ ...request, query: "needle" }, options)) {
      yield event;
      throw new QuernError("INDEX_CORRUPT", "cannot read /srv/secret/data.mdb");
    }
  }
  return new Proxy(engine, {
    get(target, name) {
      if (name === "search") return search;
      if (name === "stream") return stream;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

const seen = { codes: new Set<string>(), operations: new Set<string>() };
let engine: Engine;
let described: Interface;
beforeAll(async () => {
  engine = await openEngine(FIXTURES);
});
afterAll(async () => engine.close());

describe.each(Object.entries(MOUNTS))("%s", (_name, mount) => {
  let service: Service;
  let mounted: Mounted;
  beforeAll(async () => {
    service = await startService({}, failing(engine));
    mounted = await mount(service.handler);
    const response = await mounted.client("/api/openapi.json");
    described = readInterface((await response.json()) as Document);
  });
  afterAll(() => mounted[Symbol.asyncDispose]());

  test.each(ROWS)("$name", async ({ request, operation, status, code, check }) => {
    const [path, init] = await request(service);
    const response = await mounted.client(path, init);
    const text = await response.text();
    expect(response.status, text).toBe(status);
    const isJson = response.headers.get("content-type") === "application/json" && text !== "";
    const body: unknown = isJson ? JSON.parse(text) : text;
    if (code !== undefined) {
      expect(body).toEqual({ statusCode: status, errorCode: code, message: expect.any(String) });
      expect(STATUS[code]).toBe(status);
      seen.codes.add(code);
    }
    check?.(body as never, response.headers, service);
    if (operation === undefined) return;
    expect(described.problem(...operation, response, text)).toBe(undefined);
    if (status < 300) seen.operations.add(operation.join(" "));
  });
});

test("every code and every operation had its row", () => {
  expect([...seen.codes].sort()).toEqual(Object.keys(STATUS).sort());
  const operations = Object.entries(described.document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  expect([...seen.operations].sort()).toEqual(operations.sort());
});
