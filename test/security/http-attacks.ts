/** The worst content of a megabyte that a stranger can send to each route, and how the request must end. */

import { someOf } from "../runs.ts";

export interface HttpAttack {
  /** The route, as the OpenAPI document names it. */
  readonly route: string;
  readonly what: string;
  readonly url?: () => string;
  readonly body?: () => string | Uint8Array<ArrayBuffer>;
  readonly headers?: () => Record<string, string>;
  /** The status. Default: any status below 500. */
  readonly status?: number;
}

const MEGABYTE = 1 << 20;
/** The length of a text that makes the whole body a megabyte. */
const NEARLY = MEGABYTE - 200;

const filled = (piece: string, length = NEARLY): string =>
  piece.repeat(Math.floor(length / piece.length));
/** Returns a list of different pieces, separated by commas. */
const distinct = (of: (i: number) => string, length = NEARLY): string => {
  const parts: string[] = [];
  for (let total = 0; ;) {
    const part = of(parts.length);
    if ((total += part.length + 1) > length) return parts.join();
    parts.push(part);
  }
};
const list = (item: string): string => `[${filled(`${item},`, NEARLY - 2 * item.length)}${item}]`;

/** JSON of every form, whatever the route expects. */
const JSON_BODIES: [what: string, body: () => string | Uint8Array<ArrayBuffer>, status: number][] =
  [
    ["nested lists", () => "[".repeat(NEARLY / 2) + "]".repeat(NEARLY / 2), 400],
    ["nested lists that never end", () => "[".repeat(NEARLY), 400],
    ["nested objects", () => `${filled('{"a":', NEARLY / 2)}1${"}".repeat(NEARLY / 12)}`, 400],
    ["empty lists", () => list("[]"), 400],
    ["empty objects", () => list("{}"), 400],
    ["numbers", () => list("1"), 400],
    ["one long number", () => "1".repeat(NEARLY), 400],
    ["numbers of many digits", () => list(`${"9".repeat(300)}e-300`), 400],
    ["keys that nobody knows", () => `{${distinct((i) => `"k${i}":0`)}}`, 400],
    ["a key of a megabyte", () => `{"${filled("repoId")}":1}`, 400],
    ["one key over and over", () => `{${filled('"query":1,')}"query":1}`, 400],
    ["escapes", () => `{"query":"${filled("\\u0041")}"}`, 400],
    ["escaped quotes", () => `{"query":"${filled('\\"')}"}`, 400],
    ["a text that never ends", () => `{"query":"${"x".repeat(NEARLY)}`, 400],
    ["blanks", () => `${" ".repeat(NEARLY)}{}`, 400],
    ["bytes that are no UTF-8", () => new Uint8Array(NEARLY).fill(0xff), 400],
    ["zeros", () => new Uint8Array(NEARLY), 400],
  ];

const ofBodies = (route: string, own: readonly Omit<HttpAttack, "route">[]): HttpAttack[] => [
  ...JSON_BODIES.map(([what, body, status]) => ({ route, what, body, status })),
  ...own.map((row) => ({ route, ...row })),
];

const field = (fields: string) => () => `{${fields}}`;
const searched = [
  {
    what: "a query of a megabyte",
    body: field(`"query":"${filled("a ")}","matches":1`),
    status: 400,
  },
  {
    what: "terms",
    body: field(`"query":"${distinct((i) => `t${i}`, 9_500).replaceAll(",", " or ")}","matches":1`),
    status: 200,
  },
  {
    what: "negations",
    body: field(
      `"query":"${Array.from({ length: 1_900 }, (_, i) => `-n${i}`).join(" ")} x","matches":1`,
    ),
    status: 200,
  },
  {
    what: "expressions",
    body: field(
      `"isRegexEnabled":true,"query":"${Array.from({ length: 30 }, (_, i) => `\\\\pL\\\\PL${i}`).join(" ")}","matches":1`,
    ),
    status: 200,
  },
  {
    what: "a short expression of many states, over names",
    body: field(`"query":"repo:([a-z]?[a-z/]?){500}x","matches":1`),
    status: 200,
  },
  {
    what: "a cursor",
    body: field(`"query":"x","matches":1,"after":"${filled("A")}"`),
  },
  {
    what: "a cursor of nested lists",
    body: () => {
      const nested = "[".repeat(300_000) + "]".repeat(300_000);
      const after = Buffer.from(nested).toString("base64url");
      return `{"query":"x","matches":1,"after":"${after}"}`;
    },
  },
];

const described = [
  { what: "a question of a megabyte", body: field(`"text":"${filled("ab")}"`), status: 400 },
  { what: "thousands of words", body: field(`"text":"${"ab ".repeat(2_700)}"`), status: 200 },
  { what: "many places", body: field('"text":"needle","places":1e9'), status: 400 },
];

const symbolic = [
  {
    what: "a path of a megabyte",
    body: field(
      `"symbolName":"x","repoName":"acme/open","fileName":"${filled("a/")}.ts","line":1,"column":1`,
    ),
    status: 400,
  },
  {
    what: "a cursor of a megabyte",
    body: field(
      `"symbolName":"x","repoName":"acme/open","fileName":"src/a.ts","line":1,"column":17,"after":"${filled("ab")}"`,
    ),
    status: 400,
  },
  { what: "a name of a megabyte", body: field(`"symbolName":"${filled("ab")}"`), status: 400 },
  {
    what: "a name as long as may be",
    body: field(`"symbolName":"${"a(".repeat(500)}"`),
    status: 200,
  },
  {
    what: "a language of a megabyte",
    body: field(`"symbolName":"x","language":"${filled("x")}"`),
    status: 400,
  },
  {
    what: "a repository of a megabyte",
    body: field(`"symbolName":"x","repoName":"${filled("x")}"`),
    status: 404,
  },
];

const named = (path: string): string =>
  `{"repoName":"acme/open","revisionName":"HEAD","paths":${path}}`;
const trees = [
  { what: "one path over and over", body: () => named(list('"a"')), status: 400 },
  {
    what: "paths that all differ",
    body: () => named(`[${distinct((i) => `"p${i}"`)}]`),
    status: 400,
  },
  {
    what: "as many as there may be",
    body: () => named(`[${distinct((i) => `"src/${"d".repeat(40)}/p${i}"`)}]`),
    status: 200,
  },
  {
    what: "deep paths",
    body: () =>
      named(
        `[${distinct((i) => `"${Array.from({ length: 600 }, (_, n) => `${i}_${n % 100}`).join("/")}"`)}]`,
      ),
    status: 200,
  },
  { what: "a path of parts", body: () => named(`["${filled("a/")}"]`), status: 200 },
  {
    what: "a repository of a megabyte",
    body: () => named("[]").replace("acme/open", filled("x")),
    status: 404,
  },
  {
    what: "a revision of a megabyte",
    body: () => named("[]").replace("HEAD", filled("x")),
    status: 400,
  },
];

/** The longest URL. Node's server accepts 16 KiB; behind other servers quern accepts twice as much. */
const MOST_OF_URL = 31_000;

let rotated = 0;

/**
 * Attacks on a route with a query. The same code reads the queries of all routes, so each has one of the attacks that
 * need no name of its own, or all with QUERN_RUNS.
 */
const asked = (route: string, fixed: string, names: readonly string[]): HttpAttack[] => {
  const path = route.split(" ")[1]!;
  const row = (what: string, query: (length: number) => string) => ({
    route,
    what,
    url: () => `${path}?${query(MOST_OF_URL)}`,
  });
  const different = (length: number) => distinct((i) => `k${i}=1`, length).replaceAll(",", "&");
  const any: HttpAttack[] = [
    row("names that nobody knows", different),
    row("one name over and over", (length) => filled("k&", length)),
    row("percents", (length) => `k=${filled("%41", length)}`),
    row("percents that are none", (length) => `k=${filled("%", length)}`),
    { route, what: "a megabyte", url: () => `${path}?${different(MEGABYTE)}`, status: 431 },
  ];
  return [
    ...someOf(any, any.length, rotated++),
    ...names.map((name) =>
      row(`a long ${name}`, (length) => `${fixed}&${name}=${filled("x/", length)}`),
    ),
  ];
};

const filesOf = [
  {
    what: "a repository of a megabyte",
    body: field(`"repoName":"${filled("x")}","revisionName":"HEAD"`),
    status: 404,
  },
  {
    what: "a revision of a megabyte",
    body: field(`"repoName":"acme/open","revisionName":"${filled("x")}"`),
    status: 400,
  },
];

const minted = [
  {
    what: "ids that nobody has",
    body: () => `{"repoIds":[${distinct((i) => `${i + 1_000}`, 100_000)}]}`,
    status: 400,
  },
  { what: "one id over and over", body: () => `{"repoIds":${list("1")}}`, status: 400 },
];

/** Returns one call of the protocol. */
const rpc = (params: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
const PROTOCOL = { Accept: "application/json, text/event-stream" };
const protocol: Omit<HttpAttack, "route">[] = [
  {
    what: "a method of a megabyte",
    body: () => `{"jsonrpc":"2.0","id":1,"method":"${filled("x")}"}`,
    status: 200,
  },
  { what: "a tool of a megabyte", body: () => rpc(`{"name":"${filled("x")}"}`), status: 200 },
  {
    what: "an id of a megabyte",
    body: () => rpc('{"name":"search"}').replace('"id":1', `"id":"${filled("x")}"`),
    status: 200,
  },
  {
    what: "arguments that nobody knows",
    body: () => rpc(`{"name":"search","arguments":{${distinct((i) => `"k${i}":0`, 200_000)}}}`),
    status: 200,
  },
  {
    what: "a batch of calls",
    body: () => `[${Array.from({ length: 1_500 }, () => rpc('{"name":"repositories"}')).join()}]`,
    status: 400,
  },
];

const PUBLIC = "repo=acme/open";

export const HTTP_ATTACKS: readonly HttpAttack[] = [
  ...["post /api/search", "post /api/stream_search", "post /api/explain"].flatMap((route) =>
    ofBodies(route, searched),
  ),
  ...["post /api/find_definitions", "post /api/find_references"].flatMap((route) =>
    ofBodies(route, symbolic),
  ),
  ...ofBodies("post /api/find", described),
  ...ofBodies("post /api/tree", trees),
  ...ofBodies("post /api/files", filesOf),
  ...ofBodies("post /api/ee/scoped_access_token", minted),
  ...ofBodies("post /api/mcp", protocol).map(({ route, what, body }) => ({
    route,
    what,
    ...(body && { body }),
    headers: () => PROTOCOL,
  })),
  ...asked("get /api/repos", "sort=name", ["query", "page", "sort", "connectionId"]),
  ...asked("get /api/revisions", "", ["repo"]),
  ...asked("get /api/source", PUBLIC, ["path", "ref"]),
  ...asked("get /api/folder_contents", PUBLIC, ["path", "ref"]),
  ...asked("get /api/commits", PUBLIC, ["path", "ref", "author", "query", "since"]),
  ...asked("get /api/commit", PUBLIC, ["ref"]),
  ...asked("get /api/commits/authors", PUBLIC, ["path", "ref"]),
  ...asked("get /api/diff", `${PUBLIC}&base=a`, ["head", "path"]),
  ...asked("get /api/blame", PUBLIC, ["path", "ref"]),
  ...asked("get /api/connections", "", []),
  ...asked("get /api/ee/users", "", []),
  ...asked("get /api/ee/user", "", ["userId"]),
  ...asked("delete /api/ee/user", "", ["userId"]),
  ...asked("get /api/ee/audit", "", ["since", "page"]),
  ...asked("get /api/metrics", "", []),
  ...asked("get /api/version", "", []),
  ...asked("get /api/health", "", []),
  ...asked("get /api/models", "", []),
  ...asked("get /api/openapi.json", "", []),
  ...ofBodies("post /api/webhook/x", []).map((row) => ({ ...row, status: 401 })),
  ...asked("get /search", "", ["query"]),
  ...asked("get /browse/acme/open/-/blob/README.md", "", []),
  ...asked("delete /api/ee/scoped_access_token/x", "", []),
];
