/**
 * What a caller gets of an engine that holds more than they may see is what an engine would give
 * that holds nothing else: files, ranges, counts, lists, refusals. Ids and times aside, the two
 * answers are compared as a whole.
 */

import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { openEngine, type Fixture } from "./engine.ts";
import type { Connection } from "../../src/http/options.ts";
import { makeClone } from "./git-clone.ts";
import { readAnswer } from "./comparable.ts";
import { bearer, clientOf, mint, post, startService } from "./service.ts";

/** More of every random search: QUERN_RUNS=20. */
const RUNS = Number(process.env["QUERN_RUNS"] ?? 1);

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
/** With a clone each, so that there is a history to hide. */
const ALL = ["a/one", "a/two", "b/one", "b/two"].map(fixture).map((one): Fixture => ({
  ...one,
  gitFolder: makeClone(one.files).folder,
}));
const NAMES = ALL.map(({ name }) => name);

const engines = new Map<string, Promise<Engine>>();
function engineOf(names: readonly string[]): Promise<Engine> {
  const key = names.join();
  const opened = engines.get(key) ?? openEngine(ALL.filter(({ name }) => names.includes(name)));
  engines.set(key, opened);
  return opened;
}
afterAll(async () => {
  for (const engine of engines.values()) await (await engine).close();
});

type Ask = (secret: string) => [path: string, init: RequestInit];
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
  ),
);
const ask: fc.Arbitrary<[string, Ask]> = fc.oneof(
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
      "/api/repos?sort=indexed&direction=desc",
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

async function told(response: Response): Promise<unknown> {
  const text = await response.text();
  return response.headers.get("content-type")?.startsWith("text/plain") ? text : readAnswer(text);
}

/** Of an engine that holds these: a connection with none of them is not there. */
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

async function answer(
  engine: Engine,
  names: readonly string[] | undefined,
  scope: readonly string[] | undefined,
  ask: Ask,
) {
  const service = await startService({ connections: await connectionsOf(engine) }, engine);
  const idsOf = (list: readonly string[]) => list.map((name) => service.ids[name]!);
  let secret = service.keys.ada;
  if (scope !== undefined) secret = (await mint(service, secret, idsOf(scope))).token;
  if (names !== undefined) service.visible.set("ada", new Set(idsOf(names)));
  const response = await clientOf(service.handler)(...ask(secret));
  const headers = ["x-total-count", "link", "x-quern-not-indexed"].map((name) =>
    response.headers.get(name),
  );
  return [response.status, headers, await told(response)];
}

test("a caller gets what an engine of only their repositories would give", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.subarray(NAMES),
      fc.option(fc.subarray(NAMES, { minLength: 1 }), { nil: undefined }),
      ask,
      async (names, scope, [, request]) => {
        const visible = scope === undefined ? names : names.filter((name) => scope.includes(name));
        const got = await answer(await engineOf(NAMES), names, scope, request);
        const want = await answer(await engineOf(visible), undefined, undefined, request);
        expect(got).toEqual(want);
      },
    ),
    { numRuns: 100 * RUNS },
  );
});

test("without a credential one gets what an engine of only the public repositories would give", async () => {
  await fc.assert(
    fc.asyncProperty(ask, async ([, request]) => {
      const shown = ALL.filter((repository) => repository.public).map(({ name }) => name);
      const anonymous = async (engine: Engine, who: "public" | "all") => {
        const connections = await connectionsOf(engine);
        const { handler } = await startService({ anonymous: who, connections }, engine);
        const [path, { headers, ...init }] = request("");
        const kept = new Headers(headers as Record<string, string>);
        kept.delete("authorization");
        const response = await clientOf(handler)(path, { ...init, headers: kept });
        return [response.status, await told(response)];
      };
      expect(await anonymous(await engineOf(NAMES), "public")).toEqual(
        await anonymous(await engineOf(shown), "all"),
      );
    }),
    { numRuns: 30 * RUNS },
  );
});

test("a name that hidden repositories match is as unknown as any other", async () => {
  const request: Ask = (secret) => [
    "/api/search",
    post({ query: "repo:one needle", matches: 1 }, bearer(secret)),
  ];
  const got = await answer(await engineOf(NAMES), [], undefined, request);
  expect(got).toEqual(await answer(await engineOf([]), undefined, undefined, request));
});
