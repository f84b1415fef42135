/**
 * More than a hundred requests that are wrong in one way each. Every one gets its status and the
 * error object, and after each the service holds what it held before.
 */

import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { toNodeListener } from "../../src/http/node-listener.ts";
import { STATUS } from "../../src/http/refusal.ts";
import { openEngine } from "./engine.ts";
import { listen } from "./mounts.ts";
import { bearer, clientOf, FIXTURES, mint, post, startService, type Service } from "./service.ts";

const engine = await openEngine(FIXTURES);
let service: Service;
let kept: { id: string; token: string };
let server: Awaited<ReturnType<typeof listen>>;
let before: unknown;
beforeAll(async () => {
  service = await startService({ maxBodyBytes: 10_000 }, engine);
  kept = await mint(service, service.keys.ada, [service.ids["acme/open"]!]);
  server = await listen(createServer(toNodeListener(service.handler)));
  before = await state();
});
afterAll(() => server[Symbol.asyncDispose]());

/** All that a request could change. */
async function state(): Promise<unknown> {
  const records = [];
  for (const owner of ["owner", "ada", "bob"])
    for await (const { lastUsedAt: _, ...record } of service.tokens.list(owner))
      records.push(record);
  const users = [];
  for await (const user of service.users.list()) users.push(user);
  const { files } = await engine.search({ query: "needle", matches: 1000 });
  return structuredClone({ records, users, repositories: await engine.repositories(), files });
}

type Code = keyof typeof STATUS;
type Row = [name: string, path: string, init: () => RequestInit, code: Code];

const ada = () => bearer(service.keys.ada);
const SEARCH = "/api/search";
const MINT = "/api/ee/scoped_access_token";
const sends = (body: unknown) => () => post(body, ada());
const bytes =
  (body: Uint8Array | string, headers: Record<string, string> = {}) =>
  () =>
    ({
      method: "POST",
      body,
      headers: { ...ada(), "Content-Type": "application/json", ...headers },
    }) as RequestInit;
const gets = (path: string, code: Code): Row => [
  `GET ${path}`,
  path,
  () => ({ headers: ada() }),
  code,
];
const deletes = (id: string, code: Code): Row => [
  `DELETE ${id.slice(0, 40)}`,
  `${MINT}/${id}`,
  () => ({ method: "DELETE", headers: ada() }),
  code,
];

const good = { query: "needle", matches: 1 };
const NOT_JSON = [
  "",
  " ",
  "{",
  "}",
  "needle",
  "{query:1}",
  "{'query':'a'}",
  '{"query":"a","matches":1,}',
  '{"query":"a"',
  '{"query":"a","matches":01}',
  '{"query":"a","matches":NaN}',
  '{"query":"a","matches":+1}',
  '{"a":1}{"b":2}',
  "query=needle&matches=1",
  "<query>needle</query>",
  '{"query":"\n","matches":1}',
  '{"query":"\\x41","matches":1}',
  "[".repeat(9000),
  '{"a":'.repeat(1800),
  "\0",
  '{"query":"a","matches":1}\0',
  "undefined",
  "data: {}",
];
const NOT_OBJECTS = [
  "null",
  "true",
  "0",
  '"x"',
  "[]",
  '[{"query":"a","matches":1}]',
  "1e999",
  "-0",
];
const WRONG_FIELDS: object[] = [
  {},
  { query: "a" },
  { matches: 1 },
  { ...good, query: null },
  { ...good, query: 1 },
  { ...good, query: ["a"] },
  { ...good, query: { toString: "a" } },
  { ...good, matches: "1" },
  { ...good, matches: null },
  { ...good, matches: -1 },
  { ...good, matches: 1.5 },
  { ...good, matches: 1e21 },
  { ...good, matches: 2 ** 53 },
  { ...good, matches: 100_001 },
  { ...good, matches: [1] },
  { ...good, matches: true },
  { ...good, contextLines: -1 },
  { ...good, contextLines: 1001 },
  { ...good, contextLines: 0.1 },
  { ...good, contextLines: "1" },
  { ...good, contextLines: null },
  { ...good, whole: 1 },
  { ...good, whole: "true" },
  { ...good, whole: null },
  { ...good, isRegexEnabled: "no" },
  { ...good, isRegexEnabled: 0 },
  { ...good, isCaseSensitivityEnabled: {} },
  { ...good, isCaseSensitivityEnabled: null },
];
const WRONG_QUERIES: [string, boolean][] = [
  ["", false],
  [" \t\n", false],
  ["a or or b", false],
  ["file:", false],
  ["archived:maybe", false],
  ["file:(", false],
  ["(", true],
  ["[", true],
  ["a**", true],
  ["\\", true],
  ["(?=x)", true],
  ["(a)\\1", true],
  ["x{1001}", true],
  ["((a{30}){30}){30}", true],
  [`${"(".repeat(300)}a b${")".repeat(300)}`, false],
  ["[[:nope:]]", true],
  ["\\p{Nope}", true],
];
const WRONG_SCOPES: object[] = [
  {},
  { repoIds: null },
  { repoIds: 1 },
  { repoIds: "1" },
  { repoIds: ["1"] },
  { repoIds: [1.5] },
  { repoIds: [-1] },
  { repoIds: [null] },
  { repoIds: [[1]] },
  { repoIds: [2 ** 53] },
  { repoIds: { 0: 1, length: 1 } },
  { repoids: [1] },
];
const WRONG_SYMBOLS: object[] = [
  {},
  { symbolName: "" },
  { symbolName: 1 },
  { symbolName: null },
  { symbolName: "x".repeat(1001) },
  { symbolName: "x", language: 1 },
  { symbolName: "x", revisionName: "" },
  { symbolName: "x", repoName: null },
];
const WRONG_TREES: object[] = [
  {},
  { repoName: "acme/open", paths: [] },
  { repoName: "acme/open", revisionName: "HEAD" },
  { repoName: "acme/open", revisionName: "HEAD", paths: "src" },
  { repoName: "acme/open", revisionName: "HEAD", paths: [1] },
  { repoName: "acme/open", revisionName: "HEAD", paths: Array(1001).fill("a") },
];
const show = (value: unknown) => (JSON.stringify(value) ?? "").slice(0, 60);

const ROWS: Row[] = [
  ...NOT_JSON.map((body): Row => [
    `not JSON: ${show(body)}`,
    SEARCH,
    bytes(body),
    "INVALID_REQUEST_BODY",
  ]),
  ...NOT_OBJECTS.map((body): Row => [
    `no object: ${body}`,
    SEARCH,
    bytes(body),
    "INVALID_REQUEST_BODY",
  ]),
  ...WRONG_FIELDS.map((body): Row => [
    `search ${show(body)}`,
    SEARCH,
    sends(body),
    "INVALID_REQUEST_BODY",
  ]),
  ...WRONG_FIELDS.slice(0, 5).map((body): Row => [
    `stream ${show(body)}`,
    "/api/stream_search",
    sends(body),
    "INVALID_REQUEST_BODY",
  ]),
  ...WRONG_QUERIES.flatMap(([query, isRegexEnabled]) =>
    [SEARCH, "/api/stream_search"].map((path): Row => [
      `${path} for ${show(query)}`,
      path,
      sends({ ...good, query, isRegexEnabled }),
      "FAILED_TO_PARSE_QUERY",
    ]),
  ),
  ...WRONG_SCOPES.map((body): Row => [
    `mint ${show(body)}`,
    MINT,
    sends(body),
    "INVALID_REQUEST_BODY",
  ]),
  ["mint for nothing that is there", MINT, sends({ repoIds: [0] }), "INVALID_REPOSITORY_SCOPE"],
  ["mint for too much", MINT, sends({ repoIds: [1, 2, 3, 4] }), "INVALID_REPOSITORY_SCOPE"],
  ...WRONG_SYMBOLS.map((body): Row => [
    `symbols ${show(body)}`,
    "/api/find_references",
    sends(body),
    "INVALID_REQUEST_BODY",
  ]),
  ...WRONG_TREES.map((body): Row => [
    `tree ${show(body)}`,
    "/api/tree",
    sends(body),
    "INVALID_REQUEST_BODY",
  ]),

  // encodings
  [
    "UTF-8 cut short",
    SEARCH,
    bytes(Buffer.from('{"query":"\xc3","matches":1}', "latin1")),
    "INVALID_REQUEST_BODY",
  ],
  [
    "UTF-8 too long",
    SEARCH,
    bytes(Buffer.from('{"query":"\xc0\xaf","matches":1}', "latin1")),
    "INVALID_REQUEST_BODY",
  ],
  [
    "a surrogate in UTF-8",
    SEARCH,
    bytes(Buffer.from('{"query":"\xed\xa0\x80","matches":1}', "latin1")),
    "INVALID_REQUEST_BODY",
  ],
  [
    "UTF-16",
    SEARCH,
    bytes(Buffer.from(`\ufeff${JSON.stringify(good)}`, "utf16le")),
    "INVALID_REQUEST_BODY",
  ],
  [
    "gzip, said so",
    SEARCH,
    bytes(gzipSync(JSON.stringify(good)), { "Content-Encoding": "gzip" }),
    "INVALID_REQUEST_BODY",
  ],
  ["gzip, not said", SEARCH, bytes(gzipSync(JSON.stringify(good))), "INVALID_REQUEST_BODY"],
  [
    "an encoding that is none",
    SEARCH,
    bytes(JSON.stringify(good), { "Content-Encoding": "x" }),
    "INVALID_REQUEST_BODY",
  ],

  // sizes
  [
    "a body of one byte too many",
    SEARCH,
    bytes(JSON.stringify(good).padEnd(10_001)),
    "BODY_TOO_LARGE",
  ],
  ["a huge body", SEARCH, bytes(new Uint8Array(5_000_000)), "BODY_TOO_LARGE"],
  ["a huge body to mint", MINT, bytes(new Uint8Array(5_000_000)), "BODY_TOO_LARGE"],

  // content types of what changes something
  ...[
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "application/jsonp",
    "text/json",
    "application/json-patch",
    "json",
    "application/ json",
  ].map((type): Row => [
    `mint as ${type}`,
    MINT,
    bytes('{"repoIds":[]}', { "Content-Type": type }),
    "UNSUPPORTED_MEDIA_TYPE",
  ]),
  [
    "revoke as a form",
    `${MINT}/x`,
    () => ({ method: "DELETE", headers: { ...ada(), "Content-Type": "text/plain" } }),
    "UNSUPPORTED_MEDIA_TYPE",
  ],

  // paths and ids
  ...[
    "/api/search/",
    "/api//search",
    "/api/search%2f",
    "/api/%00",
    "/api/search;a=1",
    "/api/search%20",
    "/%",
    "/api/..%2fsearch",
    "/api/ee/users/",
  ].map((path) => gets(path, "NOT_FOUND")),
  ...[
    "?repo=acme%2Fopen&path=..%2F..%2Fetc%2Fpasswd",
    "?repo=acme%2Fopen&path=%00",
    "?repo=acme%2Fopen&path=README.md%00.txt",
    "?repo=acme%2Fopen&path=%FF",
    `?repo=acme%2Fopen&path=${"a/".repeat(2000)}`,
    "?repo=acme%2Fopen&path=.%2FREADME.md",
    "?repo=acme%2Fopen&path=README.md&ref=..%2Fx",
    "?repo=acme%2Fopen&path=README.md&ref=%00",
  ].map((query) => gets(`/api/source${query}`, "FILE_NOT_FOUND")),
  ...[
    "?repo=..&path=x",
    "?repo=%00&path=x",
    "?repo=&path=x",
    "?repo=__proto__&path=x",
    `?repo=${"x".repeat(5000)}&path=x`,
  ].map((query) => gets(`/api/source${query}`, "REPOSITORY_NOT_FOUND")),
  ...["", "?repo=acme%2Fopen", "?path=x", "?repo=a&repo=b&path=x", "?repo[]=a&path=x"].map(
    (query) => gets(`/api/source${query}`, "INVALID_REQUEST_BODY"),
  ),
  ...[
    "page=-1",
    "page=1e3",
    "page=99999999999",
    "perPage=100000",
    "perPage=NaN",
    "perPage=%00",
    "sort=__proto__",
    "direction=",
    "sort[]=name&sort=x",
  ].map((query) => gets(`/api/repos?${query}`, "INVALID_REQUEST_BODY")),
  ...[
    "%00",
    "%",
    "%ff%fe",
    "..",
    "x".repeat(4000),
    "__proto__",
    "%0d%0aX: 1",
    "'; drop table tokens",
  ].map((id) => deletes(id, id === ".." ? "NOT_FOUND" : "SCOPED_ACCESS_TOKEN_NOT_FOUND")),

  // methods
  ...["PUT", "PATCH", "DELETE", "GET"].map((method): Row => [
    `${method} ${SEARCH}`,
    SEARCH,
    () => ({ method, headers: ada() }),
    "METHOD_NOT_ALLOWED",
  ]),
  ["POST users", "/api/ee/users", sends({}), "METHOD_NOT_ALLOWED"],
  ["GET a token", `${MINT}/x`, () => ({ headers: ada() }), "METHOD_NOT_ALLOWED"],
  [
    "a method of other protocols",
    SEARCH,
    () => ({ method: "PROPFIND", headers: ada() }),
    "METHOD_NOT_ALLOWED",
  ],
];

test("there are more than a hundred", () => expect(ROWS.length).toBeGreaterThan(150));

test.each(ROWS)("%s", async (_name, path, init, code) => {
  for (const client of [clientOf(service.handler), server.client]) {
    const response = await client(path, init());
    const text = await response.text();
    expect([response.status, text]).toEqual([STATUS[code], expect.stringContaining(code)]);
    expect(JSON.parse(text)).toEqual({
      statusCode: STATUS[code],
      errorCode: code,
      message: expect.any(String),
    });
  }
  expect(await state()).toEqual(before);
});

test("what is unusual and yet right is taken", async () => {
  const client = clientOf(service.handler);
  const bodies = [
    `\ufeff${JSON.stringify(good)}`,
    '{"matches":1,"query":"needle","__proto__":{"whole":1},"constructor":null,"extra":[]}',
    '{"query":"no","query":"needle","matches":1.0}',
    '{"query":"needle","matches":1e0}',
    ' \n{"query":"needle","matches":1}\t ',
  ];
  for (const body of bodies) {
    const response = await client(SEARCH, bytes(body)());
    expect(response.status, body).toBe(200);
  }
  for (const type of [
    "APPLICATION/JSON",
    "application/json;charset=utf-8",
    "application/vnd.x+json",
  ]) {
    const response = await client(MINT, bytes('{"repoIds":[]}', { "Content-Type": type })());
    expect(response.status, type).toBe(201);
  }
  before = await state();
});

// ── what a fetch client would not send ──

/** What the server says to these bytes. */
async function raw(text: string): Promise<string> {
  const { hostname, port } = new URL(server.origin);
  const socket = connect({ host: hostname, port: Number(port) });
  let said = "";
  socket.on("data", (part) => (said += part.toString("latin1")));
  socket.end(text, "latin1");
  await once(socket, "close");
  return said;
}

const lines = (...parts: string[]) => `${parts.join("\r\n")}\r\nConnection: close\r\n\r\n`;
const authorized = () => `Authorization: Bearer ${service.keys.ada}`;

test.each<[string, () => string, number, Code?]>([
  [
    "two credentials",
    () => lines("GET /api/repos HTTP/1.1", "Host: x", authorized(), authorized()),
    401,
    "NOT_AUTHENTICATED",
  ],
  [
    "a credential and another",
    () => lines("GET /api/repos HTTP/1.1", "Host: x", authorized(), "Authorization: Bearer x"),
    401,
    "NOT_AUTHENTICATED",
  ],
  [
    "two key headers",
    () =>
      lines(
        "GET /api/repos HTTP/1.1",
        "Host: x",
        `X-Quern-Api-Key: ${service.keys.ada}`,
        "X-Quern-Api-Key: x",
      ),
    401,
    "NOT_AUTHENTICATED",
  ],
  [
    "a strange host",
    () => lines("GET /api/repos HTTP/1.1", "Host: a b/../c?d#e@f:99999", authorized()),
    200,
  ],
  ["no host", () => lines("GET /api/repos HTTP/1.0", authorized()), 200],
  [
    "a whole URL",
    () => lines("GET http://elsewhere/api/repos HTTP/1.1", "Host: x", authorized()),
    200,
  ],
  [
    "a whole URL of another kind",
    () => lines("GET ftp:/// HTTP/1.1", "Host: x", authorized()),
    404,
    "NOT_FOUND",
  ],
  ["no path", () => lines("OPTIONS * HTTP/1.1", "Host: x"), 404, "NOT_FOUND"],
  [
    "TRACE",
    () => lines("TRACE /api/search HTTP/1.1", "Host: x", authorized()),
    405,
    "METHOD_NOT_ALLOWED",
  ],
  [
    "dots that are not resolved",
    () => lines("GET /api/x/../repos HTTP/1.1", "Host: x", authorized()),
    200,
  ],
  [
    "a length that is no number",
    () => lines("POST /api/search HTTP/1.1", "Host: x", authorized(), "Content-Length: x"),
    400,
  ],
  [
    "two lengths",
    () =>
      lines(
        "POST /api/search HTTP/1.1",
        "Host: x",
        authorized(),
        "Content-Length: 1",
        "Content-Length: 2",
      ),
    400,
  ],
  [
    "a length and chunks",
    () =>
      lines(
        "POST /api/search HTTP/1.1",
        "Host: x",
        authorized(),
        "Content-Length: 1",
        "Transfer-Encoding: chunked",
      ),
    400,
  ],
  ["a NUL in the path", () => lines("GET /api/\0 HTTP/1.1", "Host: x", authorized()), 400],
  [
    "a NUL in a header",
    () => lines("GET /api/repos HTTP/1.1", "Host: x", "Authorization: Bearer \0"),
    400,
  ],
  [
    "bytes above ASCII in a credential",
    () => lines("GET /api/repos HTTP/1.1", "Host: x", "Authorization: Bearer \xff\xfe"),
    401,
    "NOT_AUTHENTICATED",
  ],
  [
    "bytes above ASCII in the path",
    () => lines("GET /api/\xff HTTP/1.1", "Host: x", authorized()),
    400,
  ],
  [
    "headers without end",
    () => lines("GET /api/repos HTTP/1.1", "Host: x", `X: ${"x".repeat(20_000)}`),
    431,
  ],
])("over the wire: %s", async (_name, text, status, code) => {
  const said = await raw(text());
  expect(said).toMatch(new RegExp(`^HTTP/1\\.[01] ${status} `));
  if (code !== undefined) expect(said).toContain(`"errorCode":"${code}"`);
  expect(await state()).toEqual(before);
});

test("the token that was there all along is still good", async () => {
  const response = await clientOf(service.handler)(SEARCH, post(good, bearer(kept.token)));
  expect(response.status).toBe(200);
});
