/**
 * Two worlds that differ only in what a caller may not see: the hidden repositories have other names, languages, files
 * and revisions, and were indexed between the visible ones, in other runs. Every route, page and tool gives the caller
 * the same answer, in the same order, with the same counts, before and after compact(). Ids and times are left out, and
 * of the counters those that depend on the layout of segments.
 */

import { describe, expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { createHandler } from "../../src/http/handler.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import type { Source } from "../../src/ingest/sources/source.ts";
import { openEngine } from "../engine/opened.ts";
import { callTool, connected } from "../mcp/connected.ts";
import { comparable, readAnswer } from "./comparable.ts";
import { sourceOf } from "./engine.ts";
import { makeClone } from "./git-clone.ts";
import { events } from "./interface.ts";
import { post } from "./service.ts";
import { someOf } from "../runs.ts";

const WORD = (seed: number, n: number) =>
  ["needle", "hay", "Needle", "straw", "needles"][(seed * n) % 5]!;
const textOf = (seed: number, lines: number): string =>
  Array.from(
    { length: lines },
    (_, n) => `export function ${WORD(seed, n)}${n}() { return ${WORD(seed + 1, n)}(${n}); }`,
  ).join("\n");

/** These bytes are also in hidden repositories, under names of other languages. */
const SHARED = "def alpha():\n    return needle\n\nclass Beta:\n    def needle(self): pass\n";

const filesOf = (seed: number): Record<string, string> => ({
  "src/a.ts": textOf(seed, 30),
  "src/b.py": SHARED,
  "lib/c.md": `# needle ${seed}\n${textOf(seed + 2, 9)}`,
  "d.bin": `\0${seed}`,
});
const seen = ["acme/one", "acme/two", "zeta/three"].map((name, seed) => {
  const files = filesOf(seed + 1);
  return sourceOf({ name, public: true, files, gitFolder: makeClone(files).folder });
});
const hidden = (name: string, files: Record<string, string>): Source =>
  documents({
    name,
    archived: name.length % 2 === 0,
    files: Object.entries(files).map(([path, content]) => ({ path, content })),
  });
const many = (count: number, seed: number, suffix: string): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`p/${n}.${suffix}`, textOf(seed + n, 20 + n)]),
  );

/** The runs that make each world. A caller sees the same in all of them. */
const WORLDS: Readonly<Record<string, readonly (readonly Source[])[]>> = {
  "nothing is hidden": [seen],
  "a little is hidden": [
    [seen[0]!, hidden("acme/secret", { "x.rb": SHARED, "y.ts": textOf(1, 30) })],
    seen.slice(1),
  ],
  "much is hidden": [
    [
      hidden("a/first", {
        ...many(40, 3, "go"),
        "b.txt": SHARED,
        "c.md": `# needle 1\n${textOf(3, 9)}`,
      }),
    ],
    [seen[0]!],
    [hidden("acme/onset", many(3, 1, "rs")), seen[1]!, hidden("zeta/needle", { "n.c": SHARED })],
    [seen[2]!],
    ...[1, 2, 3, 4].map((n) => [hidden(`m/${n}`, { "b.py": `${SHARED}# ${n}`, "b2.py": SHARED })]),
    [hidden("a/first", many(30, 4, "go"))],
  ],
};

const QUERIES = someOf(
  [
    "needle",
    "Needle or hay",
    "sym:needle",
    "sym:alpha",
    "lang:python",
    "-lang:python needle",
    "file:src",
    "repo:one needle",
    "repo:secret needle",
    "reposet:acme/one,acme/secret,m/1 needle",
    "context:team needle",
    "type:diff needle",
    "type:commit commit",
    "repo:secret type:diff needle",
    "archived:only needle",
    "visibility:private needle",
    "rev:* needle",
    "needel",
    '""',
    "lang:rust needle",
  ],
  2,
);
const SECRETS = ["acme/one", "acme/secret", "a/first", "m/1", "no/such"];

type Ask = readonly [path: string, init?: RequestInit];
const asks = (): Ask[] => [
  ...QUERIES.flatMap((query): Ask[] => [
    ...[1000, 7].map((matches): Ask => [
      "/api/search",
      post({ query, matches, after: "", facets: 9, contextLines: 1 }),
    ]),
    ["/api/search", post({ query, matches: 20, matchesPerFile: 2, whole: true, enclosing: true })],
    [
      "/api/search",
      post({ query, matches: 50, isCaseSensitivityEnabled: true, isRegexEnabled: true }),
    ],
    ["/api/stream_search", post({ query, matches: 100_000 })],
    ["/api/explain", post({ query, matches: 10 })],
  ]),
  ...["needle", "where is alpha returned", "hays of Beta", "secret"].flatMap((text): Ask[] => [
    ["/api/find", post({ text })],
    ["/api/find", post({ text, query: "lang:python", places: 3, lines: 20 })],
  ]),
  ...["alpha", "needle", "Beta"].flatMap((symbolName) =>
    ["/api/find_definitions", "/api/find_references"].flatMap((route): Ask[] => [
      [route, post({ symbolName })],
      ...SECRETS.flatMap((repoName): Ask[] => [
        [route, post({ symbolName, repoName })],
        [route, post({ symbolName, repoName, fileName: "src/a.ts", line: 1, column: 10 })],
      ]),
    ]),
  ),
  ...["", "?query=e", "?perPage=2&page=2", "?sort=pushed&direction=desc"].map((rest): Ask => [
    `/api/repos${rest}`,
  ]),
  ...[
    "/api/connections",
    "/api/models",
    "/api/version",
    "/api/health",
    "/api/openapi.json",
    "/",
  ].map((path): Ask => [path]),
  ...SECRETS.flatMap((repo): Ask[] => [
    ...[
      `/api/revisions?repo=${repo}`,
      `/api/source?repo=${repo}&path=src/b.py`,
      `/api/folder_contents?repo=${repo}&path=`,
      `/api/commits?repo=${repo}`,
      `/api/commit?repo=${repo}&ref=HEAD`,
      `/api/commits/authors?repo=${repo}`,
      `/api/diff?repo=${repo}&base=HEAD&head=main`,
      `/api/blame?repo=${repo}&path=src/b.py`,
      `/browse/${repo}/-/tree/`,
      `/browse/${repo}/-/blob/src/b.py`,
    ].map((path): Ask => [path]),
    ["/api/files", post({ repoName: repo, revisionName: "HEAD" })],
    ["/api/tree", post({ repoName: repo, revisionName: "HEAD", paths: ["src", "p"] })],
  ]),
];

const calls = (): [tool: string, args: Record<string, unknown>][] => [
  ...QUERIES.flatMap((query): [string, Record<string, unknown>][] => [
    ["search", { query }],
    ["search", { query, maxTokens: 300 }],
    ["find_files", { query: "b.py" }],
  ]),
  ...["alpha", "needle"].flatMap((symbol): [string, Record<string, unknown>][] => [
    ["definitions", { symbol }],
    ["references", { symbol }],
  ]),
  ["repositories", {}],
  ...SECRETS.flatMap((repository): [string, Record<string, unknown>][] => [
    ["repositories", { query: repository }],
    ["tree", { repository }],
    ["outline", { repository, path: "src/b.py" }],
    ["read", { repository, file: "src/b.py" }],
    ["history", { repository }],
    ["search", { query: "needle", repository }],
  ]),
];

const contexts = (name: string) =>
  name === "team" ? ["acme/one", "acme/secret", "a/first", "m/1"] : undefined;
/** Returns the text of a tool without what no two answers have in common. */
const withoutTimes = (text: string): string =>
  text
    .replace(/\d+(?:\.\d+)? ms/g, "ms")
    .replace(/indexed \d{4}-[\d:TZ-]+/g, "indexed") // one world may be made in another minute
    .replace(/cursor "\w+"/g, "cursor");

/** Resolves to everything that a caller without a credential is answered. */
async function answersOf(engine: Engine): Promise<Map<string, unknown>> {
  const handler = createHandler(engine, {
    anonymous: "public",
    page: true,
    mcp: true,
    maxConcurrent: 1000,
    maxWaiting: 0,
    timeoutMs: 600_000, // on a busy machine, a search whose time is over has other counts
  });
  const told = new Map<string, unknown>();
  for (const [path, init = {}] of asks()) {
    const response = await handler(new Request(`http://localhost${path}`, init));
    const headers = ["x-total-count", "link", "x-quern-not-indexed", "content-type"].map((name) =>
      response.headers.get(name),
    );
    // a cursor contains ids and a hash of them
    const text = (await response.text()).replace(/"nextCursor":"[\w-]+"/, '"nextCursor":""');
    const isJson = /^(?:data: |[{[])/.test(text);
    told.set(`${path} ${(init.body as string | undefined) ?? ""}`, [
      response.status,
      headers,
      isJson ? readAnswer(text) : text,
    ]);
  }
  const client = await connected(handler, { path: "/api/mcp" });
  for (const [tool, args] of calls()) {
    const { text, facts, isError } = await callTool(client, tool, args);
    const { cursor: _, ...plain } = facts ?? {};
    told.set(`${tool} ${JSON.stringify(args)}`, [withoutTimes(text), comparable(plain), isError]);
  }
  return told;
}

async function openWorld(runs: readonly (readonly Source[])[]): Promise<Engine> {
  const engine = await openEngine({ contexts, internals: { retireMs: 0 } });
  for (const run of runs) await engine.index(run);
  return engine;
}

describe("a caller cannot tell", () => {
  test("what is hidden, before and after compact()", async () => {
    const worlds: [string, Engine][] = [];
    for (const [name, runs] of Object.entries(WORLDS)) worlds.push([name, await openWorld(runs)]);
    const wanted = await answersOf(worlds[0]![1]);
    const check = async (when: string): Promise<void> => {
      for (const [name, engine] of worlds) {
        const got = await answersOf(engine);
        for (const [ask, answer] of wanted) {
          expect(got.get(ask), `${name}, ${when}: ${ask}`).toEqual(answer);
          // all worlds have the same contexts, so equal answers could still contain a name
          for (const secret of ["acme/secret", "a/first", "m/1"])
            if (!ask.includes(secret)) expect(JSON.stringify(answer), ask).not.toContain(secret);
        }
      }
    };
    await check("as indexed");
    for (const [, engine] of worlds) await engine.compact();
    await check("compacted");
    expect(wanted.size).toBeGreaterThan(100);
  });

  test("how much a limited stream leaves out", async () => {
    const counts: unknown[] = [];
    for (const runs of Object.values(WORLDS)) {
      const handler = createHandler(await openWorld(runs), { anonymous: "public" });
      const ask = async (matches: number) => {
        const init = post({ query: "needle", matches });
        const response = await handler(new Request("http://localhost/api/stream_search", init));
        const all = events(await response.text());
        const files = all.flatMap(
          (event) => (event["files"] as { fileName: { text: string } }[]) ?? [],
        );
        return { names: files.map(({ fileName }) => fileName.text), final: comparable(all.at(-1)) };
      };
      const [some, every] = [await ask(5), await ask(100_000)];
      for (const name of some.names) expect(every.names).toContain(name);
      counts.push(some.final);
    }
    for (const one of counts) expect(one).toEqual(counts[0]);
  });
});
