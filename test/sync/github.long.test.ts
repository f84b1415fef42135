/** Tests runs against GitHub's interface, with real remotes. */

import { expect, test } from "vitest";
import { serveGitHub } from "./github-server.ts";
import { outcomes } from "./outcomes.ts";
import {
  commit,
  inRepository,
  removeRepository,
  renameRepository,
  serveRemotes,
} from "./remotes.ts";
import { openWorkplace } from "./workplace.ts";

async function setUp() {
  const remotes = await serveRemotes();
  const github = serveGitHub(remotes);
  const workplace = await openWorkplace();
  const connection = {
    type: "github" as const,
    url: remotes.url,
    orgs: ["acme"],
    token: { env: "GITHUB_TOKEN" },
  };
  const env = { GITHUB_TOKEN: github.token };
  return { remotes, github, workplace, connection, env };
}

test("clones and indexes repositories, with the host's metadata", async () => {
  const { remotes, github, workplace, connection, env } = await setUp();
  commit(remotes.root, "acme/shop", { "cart.ts": "const needle = 1;\n" });
  commit(remotes.root, "acme/ledger", { "book.ts": "const needle = 2;\n" });
  github.repositories = [
    { id: 1, full_name: "acme/shop", private: true, stargazers_count: 99_999 },
    { id: 2, full_name: "acme/ledger", archived: true, fork: true },
  ];
  const report = await workplace.sync(connection, { env });
  expect(outcomes(report)).toEqual([
    "127.0.0.1/acme/ledger: indexed",
    "127.0.0.1/acme/shop: indexed",
  ]);
  expect(await workplace.find("needle")).toEqual(["127.0.0.1/acme/ledger", "127.0.0.1/acme/shop"]);
  const [ledger, shop] = (await workplace.engine.repositories()).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  );
  expect(shop).toMatchObject({
    displayName: "acme/shop",
    codeHostType: "github",
    webUrl: `${remotes.url}/acme/shop`,
    archived: false,
    fork: false,
    public: false,
    rank: 1,
  });
  expect(ledger).toMatchObject({ archived: true, fork: true, public: true, rank: 0.5 });
});

test("indexes the history of a connection that asks for it", async () => {
  const { remotes, github, workplace, connection, env } = await setUp();
  for (const content of ["old needle\n", "new\n"])
    commit(remotes.root, "acme/shop", { "cart.ts": content });
  github.repositories = [{ id: 1, full_name: "acme/shop" }];
  const removed = () =>
    workplace.engine.search({ query: "type:diff removed:needle", matches: 9 }).then(
      ({ files }) => files.length,
      ({ code }: { code: string }) => code,
    );
  await workplace.sync(connection, { env });
  expect(await removed()).toBe("INVALID_REQUEST");
  await workplace.sync({ ...connection, history: true }, { env });
  expect(await removed()).toBe(1);
  await workplace.sync({ ...connection, history: { commits: 1 } }, { env });
  expect(await removed()).toBe(1);
  await workplace.sync({ ...connection, history: { since: "2040-01-01" } }, { env });
  expect(await removed()).toBe(0);
  await workplace.sync(connection, { env });
  expect(await removed()).toBe("INVALID_REQUEST");
});

test("a second run fetches and indexes only changes", async () => {
  const { remotes, github, workplace, connection, env } = await setUp();
  for (const name of ["shop", "ledger"])
    commit(remotes.root, `acme/${name}`, { "a.ts": "first\n" });
  github.repositories = [
    { id: 1, full_name: "acme/shop" },
    { id: 2, full_name: "acme/ledger" },
  ];
  await workplace.sync(connection, { env });
  commit(remotes.root, "acme/shop", { "a.ts": "second\n" });
  remotes.requests.length = 0;
  const again = await workplace.sync(connection, { env });
  expect(outcomes(again)).toEqual([
    "127.0.0.1/acme/ledger: unchanged",
    "127.0.0.1/acme/shop: indexed",
  ]);
  expect(await workplace.find("second")).toEqual(["127.0.0.1/acme/shop"]);
  const uploads = remotes.requests.filter((line) => /POST .*ledger.*git-upload-pack/.test(line));
  expect(uploads.length).toBe(1); // requests its references, but no pack
});

test("pages of a thousand repositories are read to the end", async () => {
  const { remotes, github, workplace, connection, env } = await setUp();
  commit(remotes.root, "acme/r999", { "a.ts": "last one\n" });
  github.repositories = Array.from({ length: 1_000 }, (_, id) => ({
    id,
    full_name: `acme/r${id}`,
    topics: id === 999 ? ["Search"] : ["other"],
  }));
  const report = await workplace.sync({ ...connection, include: { topics: ["search"] } }, { env });
  expect(outcomes(report)).toEqual(["127.0.0.1/acme/r999: indexed"]);
  expect(remotes.requests.filter((line) => line.includes("/orgs/acme/repos"))).toHaveLength(10);
});

test("a repository that was renamed keeps its clone and gets its new name", async () => {
  const { remotes, github, workplace, connection, env } = await setUp();
  commit(remotes.root, "acme/old", { "a.ts": "needle\n" });
  github.repositories = [{ id: 7, full_name: "acme/old" }];
  const named = { ...connection, orgs: [], repos: ["acme/old"] };
  await workplace.sync(named, { env });
  renameRepository(remotes.root, "acme/old", "acme/new");
  github.repositories = [{ id: 7, full_name: "acme/new" }];
  github.renamed.set("acme/old", 7);
  remotes.requests.length = 0;
  expect(outcomes(await workplace.sync(named, { env }))).toEqual(["127.0.0.1/acme/new: indexed"]);
  expect(await workplace.names()).toEqual(["127.0.0.1/acme/new"]);
  expect(await workplace.find("needle")).toEqual(["127.0.0.1/acme/new"]);
  expect(remotes.requests.filter((line) => line.includes("git-upload-pack")).length).toBe(2);
});

test("two repositories may swap their names", async () => {
  const { remotes, github, workplace, connection, env } = await setUp();
  commit(remotes.root, "acme/one", { "a.ts": "was one\n" });
  commit(remotes.root, "acme/two", { "a.ts": "was two\n" });
  github.repositories = [
    { id: 1, full_name: "acme/one" },
    { id: 2, full_name: "acme/two" },
  ];
  await workplace.sync(connection, { env });
  for (const [from, to] of [
    ["one", "x"],
    ["two", "one"],
    ["x", "two"],
  ])
    renameRepository(remotes.root, `acme/${from}`, `acme/${to}`);
  github.repositories = [
    { id: 1, full_name: "acme/two" },
    { id: 2, full_name: "acme/one" },
  ];
  const report = await workplace.sync(connection, { env });
  expect(outcomes(report)).toEqual(["127.0.0.1/acme/one: indexed", "127.0.0.1/acme/two: indexed"]);
  expect(await workplace.find("was one")).toEqual(["127.0.0.1/acme/two"]);
  expect(await workplace.find("was two")).toEqual(["127.0.0.1/acme/one"]);
  expect(await workplace.names()).toEqual(["127.0.0.1/acme/one", "127.0.0.1/acme/two"]);
});

test("a repository that vanished is removed after a while, unless it comes back", async () => {
  const { remotes, github, workplace, connection, env } = await setUp();
  commit(remotes.root, "acme/shop", { "a.ts": "needle\n" });
  const shop = { id: 1, full_name: "acme/shop" };
  github.repositories = [shop];
  await workplace.sync(connection, { env });
  github.repositories = [];
  const gone = await workplace.sync(connection, { env });
  expect(gone.connections[0]!.repositories).toEqual([
    {
      name: "127.0.0.1/acme/shop",
      outcome: "gone",
      message: expect.stringMatching(
        /^its host no longer lists it; it stays until \d{4}-/,
      ) as string,
    },
  ]);
  expect(await workplace.find("needle")).toEqual(["127.0.0.1/acme/shop"]);
  github.repositories = [shop];
  expect(outcomes(await workplace.sync(connection, { env }))).toEqual([
    "127.0.0.1/acme/shop: unchanged",
  ]);
  github.repositories = [];
  const config = { connections: { work: connection }, sync: { removeAfter: "0s" } };
  const removed = await workplace.syncAll(config, { env });
  expect(outcomes(removed)).toEqual(["127.0.0.1/acme/shop: removed"]);
  expect(await workplace.names()).toEqual([]);
  expect(outcomes(await workplace.syncAll(config, { env }))).toEqual([]);
});

test("an incomplete list removes no repository", async () => {
  const { remotes, github, workplace, connection, env } = await setUp();
  commit(remotes.root, "acme/shop", { "a.ts": "needle\n" });
  github.repositories = [{ id: 1, full_name: "acme/shop" }];
  await workplace.sync(connection, { env });
  github.organizations = [];
  const config = { connections: { work: connection }, sync: { removeAfter: "0s" } };
  expect(outcomes(await workplace.syncAll(config, { env }))).toEqual([
    `orgs: acme: there is no ${remotes.url}/api/v3/orgs/acme/repos (Not Found), or the token may not read it`,
  ]);
  expect(await workplace.names()).toEqual(["127.0.0.1/acme/shop"]);
});

test("a repository that fails does not affect others, and is named", async () => {
  const { remotes, github, workplace, connection, env } = await setUp();
  commit(remotes.root, "acme/good", { "a.ts": "needle\n" });
  commit(remotes.root, "acme/bad", { "a.ts": "needle\n" });
  inRepository(remotes.root, "acme/bad", "repack", "-adq");
  github.repositories = [
    { id: 1, full_name: "acme/good" },
    { id: 2, full_name: "acme/lost" },
    { id: 3, full_name: "acme/empty" },
  ];
  inRepositoryInit(remotes.root, "acme/empty");
  const report = await workplace.sync(connection, { env });
  expect(outcomes(report)).toEqual(
    [
      "127.0.0.1/acme/empty: empty",
      expect.stringMatching(
        /^127\.0\.0\.1\/acme\/lost: failed: git ls-remote: .*not found.*; it is gone, or the token may not read it$/,
      ),
      "127.0.0.1/acme/good: indexed",
    ].sort((a, b) => String(a).localeCompare(String(b))) as unknown[],
  );
  removeRepository(remotes.root, "acme/bad");
});

function inRepositoryInit(root: string, path: string): void {
  commit(root, path, { "a.ts": "x\n" });
  inRepository(root, path, "update-ref", "-d", "refs/heads/main");
}
