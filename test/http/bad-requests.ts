/** Requests that are wrong in one way each, and the code with which each is refused. */

import { gzipSync } from "node:zlib";
import type { STATUS } from "../../src/http/refusal.ts";
import { bearer, post } from "./service.ts";

export type Code = keyof typeof STATUS;
/** `init` receives the secret to use. */
export type BadRequest = [name: string, path: string, init: Init, code: Code];
type Init = (secret: string) => RequestInit;

export const SEARCH = "/api/search";
export const MINT = "/api/ee/scoped_access_token";
const sends =
  (body: unknown): Init =>
  (secret) =>
    post(body, bearer(secret));
export const bytes =
  (body: Uint8Array | string, headers: Record<string, string> = {}): Init =>
  (secret) =>
    ({
      method: "POST",
      body,
      headers: { ...bearer(secret), "Content-Type": "application/json", ...headers },
    }) as RequestInit;
const gets = (path: string, code: Code): BadRequest => [
  `GET ${path}`,
  path,
  (secret) => ({ headers: bearer(secret) }),
  code,
];
const deletes = (id: string, code: Code): BadRequest => [
  `DELETE ${id.slice(0, 40)}`,
  `${MINT}/${id}`,
  (secret) => ({ method: "DELETE", headers: bearer(secret) }),
  code,
];

export const good = { query: "needle", matches: 1 };
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
  ["archived: only", false],
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
  { symbolName: "x", repoName: null },
];
const WRONG_TREES: object[] = [
  {},
  { repoName: "acme/open", paths: [] },
  { repoName: "acme/open", revisionName: "HEAD" },
  { repoName: "acme/open", revisionName: "HEAD", paths: "src" },
  { repoName: "acme/open", revisionName: "HEAD", paths: [1] },
];
const show = (value: unknown) => (JSON.stringify(value) ?? "").slice(0, 60);

export const BAD_REQUESTS: BadRequest[] = [
  ...NOT_JSON.map((body): BadRequest => [
    `not JSON: ${show(body)}`,
    SEARCH,
    bytes(body),
    "INVALID_REQUEST_BODY",
  ]),
  ...NOT_OBJECTS.map((body): BadRequest => [
    `no object: ${body}`,
    SEARCH,
    bytes(body),
    "INVALID_REQUEST_BODY",
  ]),
  ...WRONG_FIELDS.map((body): BadRequest => [
    `search ${show(body)}`,
    SEARCH,
    sends(body),
    "INVALID_REQUEST_BODY",
  ]),
  ...WRONG_FIELDS.slice(0, 5).map((body): BadRequest => [
    `stream ${show(body)}`,
    "/api/stream_search",
    sends(body),
    "INVALID_REQUEST_BODY",
  ]),
  ...WRONG_QUERIES.flatMap(([query, isRegexEnabled]) =>
    [SEARCH, "/api/stream_search"].map((path): BadRequest => [
      `${path} for ${show(query)}`,
      path,
      sends({ ...good, query, isRegexEnabled }),
      "FAILED_TO_PARSE_QUERY",
    ]),
  ),
  ...WRONG_SCOPES.map((body): BadRequest => [
    `mint ${show(body)}`,
    MINT,
    sends(body),
    "INVALID_REQUEST_BODY",
  ]),
  ["mint for nothing that is there", MINT, sends({ repoIds: [0] }), "INVALID_REPOSITORY_SCOPE"],
  ["mint for too much", MINT, sends({ repoIds: [1, 2, 3, 4] }), "INVALID_REPOSITORY_SCOPE"],
  ...WRONG_SYMBOLS.map((body): BadRequest => [
    `symbols ${show(body)}`,
    "/api/find_references",
    sends(body),
    "INVALID_REQUEST_BODY",
  ]),
  ...WRONG_TREES.map((body): BadRequest => [
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

  // content types of requests that change something
  ...[
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "application/jsonp",
    "text/json",
    "application/json-patch",
    "json",
    "application/ json",
  ].map((type): BadRequest => [
    `mint as ${type}`,
    MINT,
    bytes('{"repoIds":[]}', { "Content-Type": type }),
    "UNSUPPORTED_MEDIA_TYPE",
  ]),
  [
    "revoke as a form",
    `${MINT}/x`,
    (secret) => ({
      method: "DELETE",
      headers: { ...bearer(secret), "Content-Type": "text/plain" },
    }),
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
  ].map((query) => gets(`/api/source${query}`, "FILE_NOT_FOUND")),
  gets("/api/source?repo=acme%2Fopen&path=README.md&ref=%00", "INVALID_GIT_REF"),
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
  ...["PUT", "PATCH", "DELETE", "GET"].map((method): BadRequest => [
    `${method} ${SEARCH}`,
    SEARCH,
    (secret) => ({ method, headers: bearer(secret) }),
    "METHOD_NOT_ALLOWED",
  ]),
  ["POST users", "/api/ee/users", sends({}), "METHOD_NOT_ALLOWED"],
  ["GET a token", `${MINT}/x`, (secret) => ({ headers: bearer(secret) }), "METHOD_NOT_ALLOWED"],
  [
    "a method of other protocols",
    SEARCH,
    (secret) => ({ method: "PROPFIND", headers: bearer(secret) }),
    "METHOD_NOT_ALLOWED",
  ],
];
