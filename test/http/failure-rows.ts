/** Failures that are not the request's: an engine that fails in every way it can, damage, too many searches. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { QuernError, type ErrorCode } from "../../src/base/errors.ts";
import { hashSecret } from "../../src/auth/secrets.ts";
import { memoryTokenStore, type TokenStore } from "../../src/auth/token-store.ts";
import { coreOf } from "../../src/core-of.ts";
import { EngineFacade } from "../../src/engine-facade.ts";
import type { Engine } from "../../src/engine.ts";
import { open } from "../../src/opened-engine.ts";
import type { STATUS } from "../../src/http/refusal.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { events } from "./interface.ts";
import { asks, needle, type Row } from "./rows.ts";
import { bearer, clientOf, post } from "./service.ts";

/** The option of the handlers that these rows need. */
export const MAX_CONCURRENT = 3;

const SECRET_PATH = "cannot read /srv/secret/data.mdb";

/**
 * Returns an engine that fails if a query asks for failure, and that answers with `damaged` if a query asks for damage.
 */
export function failing(engine: Engine, damaged: Engine): Engine {
  const core = coreOf(engine);
  const hurt = coreOf(damaged);
  return new EngineFacade({
    ...core,
    view(options) {
      const view = core.view(options);
      const search: typeof view.search = async (request) => {
        throwAsSaid(request.query);
        return (request.query.startsWith("damaged") ? hurt.view(options) : view).search(request);
      };
      const stream: typeof view.stream = async function* (request) {
        throwAsSaid(request.query);
        if (request.query !== "later")
          return yield* (request.query.startsWith("damaged") ? hurt.view(options) : view).stream(
            request,
          );
        for await (const event of view.stream({ ...request, query: "needle" })) {
          yield event;
          throw new QuernError("INDEX_CORRUPT", SECRET_PATH);
        }
      };
      return { ...view, search, begin: search, stream };
    },
    reach: () => Promise.resolve(),
  });
}

function throwAsSaid(query: string): void {
  if (query === "boom") throw new Error(SECRET_PATH);
  const code = /^fails:(\w+)$/.exec(query)?.[1];
  if (code !== undefined) throw new QuernError(code as ErrorCode, SECRET_PATH);
}

/** Makes two segments with one file each, and flips a bit of one file's text. */
export async function openDamaged(): Promise<Engine & AsyncDisposable> {
  const path = mkdtempSync(join(tmpdir(), "quern-damaged-"));
  const engine = await open(path, { workers: 0 });
  for (const name of ["whole", "hurt"])
    await engine.index(documents({ name, files: [{ path: name, content: `damaged ${name}\n` }] }));
  await engine.close();
  const file = join(path, "quern.mdb");
  const bytes = readFileSync(file);
  const mark = Buffer.from("damaged hurt\n");
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 1)) bytes[at + 9]! ^= 1;
  writeFileSync(file, bytes);
  const damaged = await open(path, { workers: 0, onWarning: () => {} });
  return Object.assign(damaged, {
    async [Symbol.asyncDispose]() {
      await damaged.close();
      rmSync(path, { recursive: true, force: true });
    },
  });
}

type Told = readonly [status: number, code: keyof typeof STATUS];
const UNEXPECTED: Told = [500, "UNEXPECTED_ERROR"];

/** The answer to each error code of the engine. */
const CODES: Readonly<Record<ErrorCode, Told>> = {
  INVALID_REQUEST: [400, "INVALID_REQUEST_BODY"],
  QUERY_SYNTAX: [400, "FAILED_TO_PARSE_QUERY"],
  REGEX_SYNTAX: [400, "FAILED_TO_PARSE_QUERY"],
  REGEX_TOO_LARGE: [400, "FAILED_TO_PARSE_QUERY"],
  CONTEXT_NOT_FOUND: [404, "SEARCH_CONTEXT_NOT_FOUND"],
  INVALID_GIT_REF: [400, "INVALID_GIT_REF"],
  HISTORY_NOT_AVAILABLE: [404, "HISTORY_NOT_AVAILABLE"],
  FILE_TOO_LARGE: [413, "FILE_TOO_LARGE"],
  BINARY_FILE: [415, "BINARY_FILE"],
  CURSOR_EXPIRED: [400, "INVALID_REQUEST_BODY"],
  OVERLOADED: [503, "OVERLOADED"],
  ENGINE_CLOSED: [503, "OVERLOADED"],
  ABORTED: [503, "OVERLOADED"],
  SOURCE_NOT_FOUND: UNEXPECTED,
  SOURCE_UNREADABLE: UNEXPECTED,
  NOT_A_GIT_REPOSITORY: UNEXPECTED,
  REVISION_NOT_FOUND: UNEXPECTED,
  GIT_MISSING: UNEXPECTED,
  INDEX_NOT_FOUND: UNEXPECTED,
  INDEX_LOCKED: UNEXPECTED,
  INDEX_VERSION: UNEXPECTED,
  INDEX_CORRUPT: UNEXPECTED,
  INDEX_READ_ONLY: UNEXPECTED,
  DISK_FULL: UNEXPECTED,
  PERMISSION_DENIED: UNEXPECTED,
  DUPLICATE_ID: UNEXPECTED,
  INTERNAL: UNEXPECTED,
};

const SEARCHES = ["/api/search", "/api/stream_search"];
const post_ = (path: string): [string, string] => ["post", path];

// ── what may happen to any operation ──

/** Credentials at which the store of tokens fails. */
const FAILS: Readonly<Record<string, Error>> = {
  [`qrn_${"b".repeat(64)}`]: new Error(SECRET_PATH),
  [`qrn_${"c".repeat(64)}`]: new QuernError("ENGINE_CLOSED", SECRET_PATH),
};
const [BROKEN, CLOSED] = Object.keys(FAILS) as [string, string];

export function failingTokens(): TokenStore {
  const errors = new Map(Object.entries(FAILS).map(([key, error]) => [hashSecret(key), error]));
  const store = memoryTokenStore();
  return {
    ...store,
    async findByHash(hash) {
      const error = errors.get(hash);
      if (error) throw error;
      return store.findByHash(hash);
    },
  };
}

const JSON_HEADERS = { "Content-Type": "application/json" };
const TREE = { repoName: "acme/open", revisionName: "HEAD", paths: [] };

/** All operations, each with a valid body if it takes one. */
const OPERATIONS: [method: string, path: string, body?: object][] = [
  ["post", "/api/search", needle],
  ["post", "/api/stream_search", needle],
  ["post", "/api/explain", needle],
  ["post", "/api/find", { text: "needle" }],
  ["post", "/api/find_definitions", { symbolName: "needle" }],
  ["post", "/api/find_references", { symbolName: "needle" }],
  ["get", "/api/repos"],
  ["get", "/api/revisions"],
  ["get", "/api/source"],
  ["post", "/api/tree", TREE],
  ["post", "/api/files", TREE],
  ["get", "/api/folder_contents"],
  ["get", "/api/commits"],
  ["get", "/api/commit"],
  ["get", "/api/commits/authors"],
  ["get", "/api/diff"],
  ["get", "/api/blame"],
  ["post", "/api/ee/scoped_access_token", { repoIds: [1] }],
  ["delete", "/api/ee/scoped_access_token/{id}"],
  ["get", "/api/ee/users"],
  ["get", "/api/ee/user"],
  ["delete", "/api/ee/user"],
  ["get", "/api/ee/audit"],
  ["get", "/api/connections"],
  ["get", "/api/models"],
  ["get", "/api/metrics"],
  ["get", "/api/version"],
  ["get", "/api/health"],
  ["get", "/api/openapi.json"],
];

/** Returns what the caller may see, with one repository fewer each time. */
function shrinking(ids: readonly number[]): ReadonlySet<number> {
  let left = ids.length + 1;
  const set = { [Symbol.iterator]: () => ids.slice(0, --left)[Symbol.iterator]() };
  return set as unknown as ReadonlySet<number>;
}

const ANY_ROWS: Row[] = OPERATIONS.flatMap(([method, path, body]) => {
  const row = (name: string, told: Told, credential: string, sent = body): Row => ({
    name: `${method} ${path}: ${name}`,
    operation: [method, path],
    request: () => {
      const init = {
        method: method.toUpperCase(),
        headers: { ...JSON_HEADERS, ...bearer(credential) },
      };
      return [
        path.replace("{id}", "x"),
        sent === undefined ? init : { ...init, body: JSON.stringify(sent) },
      ];
    },
    status: told[0],
    code: told[1],
  });
  const huge = row("a body over the limit", [413, "BODY_TOO_LARGE"], "", {
    ...body,
    x: "x".repeat(1 << 20),
  });
  const withKey = (one: Row): Row => ({
    ...one,
    request: async (service) => {
      const [url, init] = await one.request(service);
      return [url, { ...init, headers: { ...JSON_HEADERS, ...bearer(service.keys.ada) } }];
    },
  });
  return [
    row("a credential that is not good", [401, "NOT_AUTHENTICATED"], "qrn_no"),
    row("a store of tokens that breaks", UNEXPECTED, BROKEN),
    row("a store of tokens that is closed", [503, "OVERLOADED"], CLOSED),
    ...(body === undefined ? [] : [withKey(huge)]),
  ];
});

const SHRINKING_ROWS: Row[] = (
  [
    ["post", "/api/search", needle],
    ["post", "/api/find_definitions", { symbolName: "needle" }],
    ["post", "/api/find_references", { symbolName: "needle" }],
    ["get", "/api/repos"],
    ["post", "/api/explain", needle],
    ["post", "/api/find", { text: "needle" }],
    ["get", "/api/revisions?repo=acme/open"],
    ["get", "/api/source?repo=acme/open&path=README.md"],
    ["post", "/api/tree", TREE],
    ["post", "/api/files", TREE],
    ["get", "/api/folder_contents?repo=acme/open"],
    ["get", "/api/commits?repo=acme/open"],
    ["get", "/api/commit?repo=acme/open&ref=HEAD"],
    ["get", "/api/commits/authors?repo=acme/open"],
    ["get", "/api/diff?repo=acme/open&base=first&head=HEAD"],
    ["get", "/api/blame?repo=acme/open&path=README.md"],
    ["get", "/api/connections"],
    ["get", "/api/models"],
  ] as [string, string, object?][]
).map(([method, path, body]) => ({
  name: `${method} ${path}: a caller who sees less each time`,
  operation: [method, path.replace(/\?.*/, "")],
  request: ({ keys, visible, ids }) => {
    const first = ids["acme/open"]!;
    visible.set("bob", shrinking([first, ...Array.from({ length: 10 }, (_, n) => 1000 + n)]));
    const init = {
      method: method.toUpperCase(),
      headers: { ...JSON_HEADERS, ...bearer(keys.bob) },
    };
    return [path, body === undefined ? init : { ...init, body: JSON.stringify(body) }];
  },
  status: 403,
  code: "INSUFFICIENT_PERMISSIONS",
  check: (_: unknown, _headers, { visible }) => void visible.delete("bob"),
}));

/** Streams that nobody reads yet. Each occupies a slot. */
let held: Response[] = [];

export const FAILURE_ROWS: Row[] = [
  ...ANY_ROWS,
  ...SHRINKING_ROWS,
  ...Object.entries(CODES).flatMap(([code, [status, told]]) =>
    SEARCHES.map((path): Row => ({
      name: `${path}: the engine says ${code}`,
      // not for searches, because the document does not list it there
      ...(code === "BINARY_FILE" ? {} : { operation: post_(path) }),
      request: asks(path, { ...needle, query: `fails:${code}` }),
      status,
      code: told,
      check: (body: { message: string }, headers, { events: told }) => {
        expect(headers.get("retry-after")).toBe(status === 503 ? "1" : null);
        if (status !== 500) return;
        expect(body.message).not.toContain("/srv/secret");
        expect(told.at(-1)?.detail).toMatchObject({ code, message: SECRET_PATH });
      },
    })),
  ),
  {
    name: "a bug below",
    operation: post_("/api/search"),
    request: asks("/api/search", { ...needle, query: "boom" }),
    status: 500,
    code: "UNEXPECTED_ERROR",
    check: (body: { message: string }, _headers, service) => {
      expect(body.message).not.toContain("/srv/secret");
      expect(String(service.events.at(-1)?.detail)).toContain("/srv/secret");
    },
  },
  {
    name: "a stream that fails on its way says so in an event",
    operation: post_("/api/stream_search"),
    request: asks("/api/stream_search", { ...needle, query: "later" }),
    status: 200,
    check: (text: string) => {
      expect(events(text).map(({ type }) => type)).toEqual(["chunk", "error"]);
      expect(events(text)[1]).toMatchObject({
        error: { statusCode: 500, errorCode: "UNEXPECTED_ERROR" },
      });
    },
  },
  {
    name: "a damaged segment is an answer with what the others hold",
    operation: post_("/api/search"),
    request: asks("/api/search", { ...needle, query: "damaged" }),
    status: 200,
    check: (body: Partly) => {
      expect(body.files.map(({ repository }) => repository)).toEqual(["whole"]);
      expect(body).toMatchObject({
        isSearchExhaustive: false,
        stats: { crashes: 1, fileCount: 1 },
      });
    },
  },
  {
    name: "a stream over a damaged segment, too",
    operation: post_("/api/stream_search"),
    request: asks("/api/stream_search", { ...needle, query: "damaged" }),
    status: 200,
    check: (text: string) => {
      const all = events(text);
      const files = all.flatMap((event) => (event["files"] as Partly["files"]) ?? []);
      expect(files.map(({ repository }) => repository)).toEqual(["whole"]);
      expect(all.at(-1)).toMatchObject({
        type: "final",
        isSearchExhaustive: false,
        accumulatedStats: { crashes: 1, fileCount: 1 },
      });
    },
  },
  ...["/api/search", "/api/stream_search", "/api/find_definitions", "/api/find_references"].map(
    (path): Row => ({
      name: `${path}: one search more than may run at once`,
      operation: post_(path),
      request: async ({ handler, keys }) => {
        const stream = () =>
          clientOf(handler)("/api/stream_search", post(needle, bearer(keys.ada)));
        held = await Promise.all(Array.from({ length: MAX_CONCURRENT }, stream));
        return [path, post({ ...needle, symbolName: "needle" }, bearer(keys.ada))];
      },
      status: 503,
      code: "OVERLOADED",
      check: async (_: unknown, headers) => {
        expect(headers.get("retry-after")).toBe("1");
        expect(held.map(({ status }) => status)).toEqual(Array(MAX_CONCURRENT).fill(200));
        for (const response of held) await response.body?.cancel();
      },
    }),
  ),
];

interface Partly {
  files: { repository: string }[];
}
