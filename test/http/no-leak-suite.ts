/**
 * A suite for engines, and for fronts of a cluster. A caller may not see everything in an engine. Each answer must be
 * that of an engine that has only what the caller may see: files, ranges, counts, lists, refusals. The two answers are
 * compared as a whole, except ids and times. Somebody who may see the hidden repositories has worked with them before,
 * so that members, tokens and the audit name them, too.
 */

import fc from "fast-check";
import { afterAll, expect } from "vitest";
import { mintScopedToken } from "../../src/auth/principal.ts";
import { DEFAULT_PREFIXES, hashSecret } from "../../src/auth/secrets.ts";
import type { Engine, OpenOptions } from "../../src/engine.ts";
import type { Source } from "../../src/ingest/sources/source.ts";
import { RUNS } from "../runs.ts";
import { openEngine, sourceOf, type Fixture } from "./engine.ts";
import type { Connection } from "../../src/http/options.ts";
import { makeClone } from "./git-clone.ts";
import { readAnswer } from "./comparable.ts";
import { bearer, clientOf, mint, person, post, startService, type Service } from "./service.ts";

const WORDS = ["needle", "Needle", "hay", "func", "needles", "x", "ß"];
const fixture = (name: string, seed: number): Fixture => ({
  name,
  public: seed % 2 === 0,
  fork: seed % 3 === 0,
  files: Object.fromEntries(
    Array.from({ length: 3 + seed }, (_, n) => [
      `${["src", "lib", "needle"][(seed + n) % 3]}/${n}.${["ts", "c", "md"][(seed * n) % 3]}`,
      Array.from(
        { length: 5 },
        (_, line) =>
          `${WORDS[(seed * 7 + n * 3 + line) % WORDS.length]} = function ${WORDS[(seed + line) % 5]}() {}`,
      )
        .concat(`export function ${WORDS[(seed + n) % 3]}() {}`)
        .join("\n"),
    ]),
  ),
});
/** All repositories. Each has a clone, so that there is a history to hide. */
const ALL = ["a/one", "a/two", "b/one", "b/two"].map(fixture).map((one): Fixture => ({
  ...one,
  gitFolder: makeClone(one.files).folder,
}));
const NAMES = ALL.map(({ name }) => name);
/** The sets that the host has saved. Each contains hidden repositories, and one that does not exist. */
const CONTEXTS: Readonly<Record<string, readonly string[]>> = {
  team: ["a/one", "b/two", "no/such"],
  "b/two": ["b/two", "no/such"], // the query contains the hidden name
};
export type WithContexts = Required<Pick<OpenOptions, "contexts">>;
const withContexts: WithContexts = { contexts: (name) => CONTEXTS[name] };

/** Ordinary engines to compare with. */
const engines = new Map<string, Promise<Engine>>();
function engineOf(names: readonly string[]): Promise<Engine> {
  const key = names.join();
  const opened =
    engines.get(key) ??
    openEngine(
      ALL.filter(({ name }) => names.includes(name)),
      withContexts,
    );
  engines.set(key, opened);
  return opened;
}
afterAll(async () => {
  for (const engine of engines.values()) await (await engine).close();
});

/**
 * Values that a request may contain besides its credential: ids of repositories, and the id of another user's token.
 */
interface Known {
  ids: Service["ids"];
  token: string;
}
type Ask = (secret: string, known: Known) => [path: string, init: RequestInit];

const TOKENS = "/api/ee/scoped_access_token";
/**
 * Requests that only owners may make. The ids belong to nobody, to the caller, and to a user whom only the full
 * engine's service has.
 */
const RESERVED = [
  ["GET", "/api/ee/users"],
  ["GET", "/api/ee/audit"],
  ["GET", "/api/ee/audit?page=2&perPage=1"],
  ["GET", "/api/ee/audit?since=2020-01-01&until=2021-01-01"],
  ["GET", "/api/ee/audit?since=no-date"],
  ["GET", "/api/metrics"],
  ...["nobody", "ada", "keeper of b/two"].flatMap((id) => [
    ["GET", `/api/ee/user?userId=${id}`],
    ["DELETE", `/api/ee/user?userId=${id}`],
  ]),
] as const;
const query = fc.oneof(
  fc.constantFrom(...WORDS),
  fc.constantFrom(
    "needle or hay",
    "-(needle)",
    "-file:src",
    '""',
    "repo:^a/.+ needle",
    "repo:one needle",
    "visibility:public x",
  ),
  fc.constantFrom(
    "reposet:a/one,b/two func",
    "fork:only needle",
    "lang:ts",
    "sym:needle",
    "file:needle",
    "rev:HEAD hay",
    "context:team needle",
    "repo:one -context:b/two hay",
  ),
);
const reading: fc.Arbitrary<[string, Ask]> = fc.oneof(
  fc
    .record({
      query,
      matches: fc.constantFrom(0, 1, 5, 1000),
      contextLines: fc.constantFrom(0, 1),
      isRegexEnabled: fc.boolean(),
      isCaseSensitivityEnabled: fc.boolean(),
    })
    .map((body): [string, Ask] => [
      JSON.stringify(body),
      (secret) => ["/api/search", post(body, bearer(secret))],
    ]),
  fc
    .record({ query })
    .map(({ query }): [string, Ask] => [
      `stream ${query}`,
      (secret) => ["/api/stream_search", post({ query, matches: 1000 }, bearer(secret))],
    ]),
  fc
    .record({ query })
    .map(({ query }): [string, Ask] => [
      `explain ${query}`,
      (secret) => ["/api/explain", post({ query, matches: 10 }, bearer(secret))],
    ]),
  fc
    .record({ text: fc.constantFrom("needle", "hay in a stack", "secret needle", "read the file") })
    .map(({ text }): [string, Ask] => [
      `find ${text}`,
      (secret) => ["/api/find", post({ text, places: 50 }, bearer(secret))],
    ]),
  fc
    .record({
      route: fc.constantFrom("/api/find_definitions", "/api/find_references"),
      symbolName: fc.constantFrom("needle", "hay"),
      repoName: fc.constantFrom(undefined, ...NAMES),
    })
    .map(({ route, ...body }): [string, Ask] => [
      `${route} ${JSON.stringify(body)}`,
      (secret) => [route, post(body, bearer(secret))],
    ]),
  fc
    .constantFrom(
      "/api/repos",
      "/api/repos?query=one&perPage=1",
      "/api/repos?sort=pushed&direction=desc", // sort=indexed depends on the clock
      "/api/repos?connectionId=1",
      "/api/repos?connectionId=2&query=one",
      "/api/repos?connectionId=9",
      "/api/connections",
      "/api/models",
      ...NAMES.map((name) => `/browse/${name}@main/-/blob/src/0.ts`),
      ...NAMES.map((name) => `/browse/${name}/-/tree/`),
      ...NAMES.map((name) => `/api/revisions?repo=${encodeURIComponent(name)}`),
      ...NAMES.map((name) => `/api/source?repo=${encodeURIComponent(name)}&path=src/0.ts`),
    )
    .map((path): [string, Ask] => [path, (secret) => [path, { headers: bearer(secret) }]]),
  fc
    .tuple(
      fc.constantFrom(...NAMES),
      fc.constantFrom(
        "commits?author=ada",
        "commits?path=../x",
        "commit?ref=HEAD",
        "commits/authors?ref=main",
        "diff?base=HEAD&head=main",
        "diff?base=-x&head=main",
        "blame?path=src/0.ts",
        "folder_contents?path=src&ref=main",
        "source?path=src/0.ts&ref=main",
        "source?path=src/0.ts&ref=nope",
      ),
    )
    .map(([name, rest]): [string, Ask] => {
      const path = `/api/${rest}&repo=${encodeURIComponent(name)}`;
      return [path, (secret) => [path, { headers: bearer(secret) }]];
    }),
  fc
    .constantFrom(...NAMES)
    .map((repoName): [string, Ask] => [
      `files ${repoName}`,
      (secret) => ["/api/files", post({ repoName, revisionName: "main" }, bearer(secret))],
    ]),
  fc
    .constantFrom(...NAMES)
    .map((repoName): [string, Ask] => [
      `tree ${repoName}`,
      (secret) => [
        "/api/tree",
        post({ repoName, revisionName: "HEAD", paths: ["src"] }, bearer(secret)),
      ],
    ]),
);

const managing: fc.Arbitrary<[string, Ask]> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .constantFrom(...RESERVED)
      .map(([method, path]): [string, Ask] => [
        `${method} ${path}`,
        (secret) => [path, { method, headers: bearer(secret) }],
      ]),
  },
  {
    weight: 3,
    arbitrary: fc
      .subarray(NAMES, { minLength: 1 })
      .map((names): [string, Ask] => [
        `mint ${names.join()}`,
        (secret, { ids }) => [TOKENS, post({ repoIds: idsOf(ids, names) }, bearer(secret))],
      ]),
  },
  fc.constant<[string, Ask]>([
    "revoke another's",
    (secret, { token }) => [`${TOKENS}/${token}`, { method: "DELETE", headers: bearer(secret) }],
  ]),
);

const posted = (path: string, body: object): [string, Ask] => [
  `${path} ${JSON.stringify(body)}`,
  (secret) => [path, post(body, bearer(secret))],
];
const got = (path: string): [string, Ask] => [
  path,
  (secret) => [path, { headers: bearer(secret) }],
];

/** A repository that is not public. */
const HIDDEN = "b/two";
/** Each route once, and each way to name a hidden repository. Random cases find what these rows miss. */
const EACH: readonly [string, Ask][] = [
  ...[
    "needle",
    "sym:needle",
    `repo:${HIDDEN} needle`,
    `reposet:${HIDDEN} needle`,
    "context:team needle",
    `context:${HIDDEN} needle`,
  ].flatMap((query) =>
    ["search", "stream_search", "explain"].map((route) =>
      posted(`/api/${route}`, { query, matches: 1000 }),
    ),
  ),
  ...["find_definitions", "find_references"].flatMap((route) =>
    [{}, { repoName: HIDDEN }, { repoName: HIDDEN, fileName: "src/0.ts", line: 1, column: 1 }].map(
      (named) => posted(`/api/${route}`, { symbolName: "needle", ...named }),
    ),
  ),
  posted("/api/files", { repoName: HIDDEN, revisionName: "main" }),
  posted("/api/tree", { repoName: HIDDEN, revisionName: "HEAD", paths: ["src"] }),
  ...["/api/repos", "/api/connections", "/api/models", "/api/ee/users", "/api/ee/audit"].map(got),
  ...[`/browse/${HIDDEN}@main/-/blob/src/0.ts`, `/browse/${HIDDEN}/-/tree/`, "/api/metrics"].map(
    got,
  ),
  ...[
    "repos?query=two",
    `revisions?repo=${HIDDEN}`,
    `source?path=src/0.ts&repo=${HIDDEN}`,
    `source?path=src/0.ts&ref=main&repo=${HIDDEN}`,
    `commits?repo=${HIDDEN}`,
    `commit?ref=HEAD&repo=${HIDDEN}`,
    `commits/authors?repo=${HIDDEN}`,
    `diff?base=HEAD&head=main&repo=${HIDDEN}`,
    `blame?path=src/0.ts&repo=${HIDDEN}`,
    `folder_contents?path=src&repo=${HIDDEN}`,
  ].map((rest) => got(`/api/${rest}`)),
];

const ask = fc.oneof({ weight: 3, arbitrary: reading }, { weight: 1, arbitrary: managing });

async function told(response: Response): Promise<unknown> {
  const text = await response.text();
  if (response.status === 204 || response.headers.get("content-type")?.startsWith("text/plain"))
    return text;
  const answer = readAnswer(text);
  return response.status === 201 ? Object.keys(answer as object) : answer; // no token belongs to anyone else
}

/** Resolves to the connections of an engine. A connection without any of its repositories is left out. */
async function connectionsOf(engine: Engine): Promise<Connection[]> {
  const held = (await engine.repositories()).map(({ name }) => name);
  return ["a", "b"].flatMap((name, n): Connection[] => {
    const repositories = held.filter((one) => one.startsWith(`${name}/`));
    const one = {
      id: n + 1,
      name,
      connectionType: "github",
      repositories: Object.freeze(repositories),
    };
    return repositories.length === 0 ? [] : [one];
  });
}

/** Uses all repositories as an owner, so that the audit names each. Resolves to the ids that are known afterwards. */
async function workWithAll({ users, ...service }: Service): Promise<Known> {
  const { keys, ids } = service;
  await users.put(person("keeper of b/two", { name: "b/two" }));
  const ask = clientOf(service.handler);
  const names = Object.keys(ids);
  const query = `needle (${names.map((name) => `repo:^${name}$`).join(" or ")})`;
  await (await ask("/api/search", post({ query, matches: 1 }, bearer(keys.bob)))).text();
  for (const name of names) {
    const headers = bearer(keys.bob);
    await (await ask(`/api/folder_contents?repo=${name}`, { headers })).text();
  }
  const { id } = await mint({ users, ...service }, keys.bob, Object.values(ids));
  return { ids, token: id };
}

/** Returns the ids of these repositories. For a missing repository, returns 999 999, which is nobody's id. */
const idsOf = (ids: Service["ids"], names: readonly string[]): number[] =>
  names.map((name) => ids[name] ?? 999_999);

/** Resolves to a scoped token, possibly for repositories that the service does not have. */
async function scoped({ tokens, ids }: Service, key: string, names: readonly string[]) {
  const minter = (await tokens.findByHash(hashSecret(key)))!;
  const minted = await mintScopedToken(tokens, minter, {
    repositoryIds: idsOf(ids, names),
    ttlMs: 3_600_000,
    secrets: { prefixes: DEFAULT_PREFIXES },
  });
  return minted.secret;
}

interface Asking {
  /** What the caller may see. Default: everything. */
  readonly names?: readonly string[] | undefined;
  /** The scope of the token that is sent. Default: the key itself is sent. */
  readonly scope?: readonly string[] | undefined;
  /** The owner of the token. A scoped token never has the rights of an owner. */
  readonly who?: "ada" | "owner" | undefined;
  /** Whether another user has worked with everything before. */
  readonly isUsed?: boolean;
}

/** On a busy machine, a search whose time is over has other counts, whatever is hidden. */
const UNLIMITED = { timeoutMs: 600_000 };

/** Resolves to a function that sends requests as one caller of one service. */
async function answers(
  engine: Engine,
  { names, scope, who = "ada", isUsed = false }: Asking,
): Promise<(ask: Ask) => Promise<unknown>> {
  const service = await startService(
    { ...UNLIMITED, connections: await connectionsOf(engine) },
    engine,
  );
  const known = isUsed ? await workWithAll(service) : { ids: service.ids, token: "none" };
  const key = service.keys[who];
  const secret = scope === undefined ? key : await scoped(service, key, scope);
  if (names !== undefined) service.visible.set(who, new Set(idsOf(service.ids, names)));
  return async (ask) => {
    const response = await clientOf(service.handler)(...ask(secret, known));
    const headers = ["x-total-count", "link", "x-quern-not-indexed"].map((name) =>
      response.headers.get(name),
    );
    return [response.status, headers, await told(response)];
  };
}

/**
 * Expects that an answer contains no hidden name, unless its request does. The engine to compare with could not show
 * this, because it has the same contexts.
 */
function expectNoNames(told: unknown, request: string, visible: readonly string[]): void {
  for (const name of NAMES)
    if (!visible.includes(name) && !request.includes(name))
      expect(JSON.stringify(told), request).not.toContain(name);
}

const answer = async (engine: Engine, asking: Asking, ask: Ask): Promise<unknown> =>
  (await answers(engine, asking))(ask);

export interface NoLeakSuite {
  readonly test: (name: string, run: () => Promise<void>) => void;
  /** Resolves to an engine that has these sources and contexts. Called in each test. */
  readonly open: (sources: readonly Source[], options: WithContexts) => Promise<Engine>;
  /** The number of random cases of a caller with a credential. There are half as many without one. */
  readonly runs: number;
  /** Whether the engine finds by description. A cluster does not. Default: true. */
  readonly finds?: boolean;
}

export function noLeakSuite({ test, open, runs, finds = true }: NoLeakSuite): void {
  const asked = ask.filter(([what]) => finds || !what.startsWith("find "));
  const full = (): Promise<Engine> => open(ALL.map(sourceOf), withContexts);

  test("a caller gets the answers of an engine that has only their repositories", async () => {
    const whole = await full();
    await fc.assert(
      fc.asyncProperty(
        fc.subarray(NAMES),
        fc.option(fc.subarray(NAMES, { minLength: 1 }), { nil: undefined, freq: 1 }),
        fc.constantFrom("ada", "owner"),
        asked,
        async (names, scope, who, [what, request]) => {
          const visible =
            scope === undefined ? names : names.filter((name) => scope.includes(name));
          const asking = { scope, who: scope === undefined ? "ada" : who } as const;
          const got = await answer(whole, { ...asking, names, isUsed: true }, request);
          const want = await answer(await engineOf(visible), asking, request);
          expect(got).toEqual(want);
          expectNoNames(got, what, visible);
        },
      ),
      { numRuns: runs * RUNS },
    );
  });

  test("each route reveals nothing of a hidden repository", async () => {
    const whole = await full();
    const names = NAMES.filter((name) => name !== HIDDEN);
    const got = await answers(whole, { names, isUsed: true });
    const want = await answers(await engineOf(names), {});
    for (const [what, request] of EACH) {
      const told = await got(request);
      expect(told, what).toEqual(await want(request));
      expectNoNames(told, what, names);
    }
  });

  test("without a credential, a caller gets the answers of an engine that has only the public repositories", async () => {
    const whole = await full();
    await fc.assert(
      fc.asyncProperty(asked, async ([, request]) => {
        const shown = ALL.filter((repository) => repository.public).map(({ name }) => name);
        const anonymous = async (engine: Engine, who: "public" | "all") => {
          const connections = await connectionsOf(engine);
          const service = await startService({ ...UNLIMITED, anonymous: who, connections }, engine);
          const { handler, ids } = service;
          const known = who === "public" ? await workWithAll(service) : { ids, token: "none" };
          const [path, { headers, ...init }] = request("", known);
          const kept = new Headers(headers as Record<string, string>);
          kept.delete("authorization");
          const response = await clientOf(handler)(path, { ...init, headers: kept });
          return [response.status, await told(response)];
        };
        expect(await anonymous(whole, "public")).toEqual(
          await anonymous(await engineOf(shown), "all"),
        );
      }),
      { numRuns: Math.ceil((runs * RUNS) / 2) },
    );
  });

  test("a name that only hidden repositories match is treated as unknown", async () => {
    const request: Ask = (secret) => [
      "/api/search",
      post({ query: "repo:one needle", matches: 1 }, bearer(secret)),
    ];
    const got = await answer(await full(), { names: [] }, request);
    expect(got).toEqual(await answer(await engineOf([]), {}, request));
  });

  test("owners see all names in the audit and among members, including hidden ones", async () => {
    const service = await startService(UNLIMITED, await full());
    const known = await workWithAll(service);
    const read = async (path: string) =>
      (await clientOf(service.handler)(path, { headers: bearer(service.keys.owner) })).text();
    const record = await read("/api/ee/audit");
    for (const name of NAMES) {
      expect(record).toContain(`"targetId":"${name}"`);
      expect(record).toMatch(new RegExp(`"query":"needle \\([^"]*repo:\\^${name}\\$`));
    }
    expect(record).toContain(known.token);
    expect(await read("/api/ee/users")).toContain("keeper of b/two");
    expect(await read("/api/ee/user?userId=keeper%20of%20b/two")).toContain('"name":"b/two"');
  });
}
