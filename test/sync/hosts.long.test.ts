/** Tests five code hosts: lists in pages, authentication, clones, and the metadata of repositories. */

import { expect, test } from "vitest";
import type { ConnectionConfig } from "../../src/sync/index.ts";
import { gitPath, serveHost, type Kind } from "./host-servers.ts";
import { outcomes } from "./outcomes.ts";
import { commit, serveRemotes } from "./remotes.ts";
import { openWorkplace } from "./workplace.ts";
import { someOf } from "../runs.ts";

const TOKEN = { token: { env: "TOKEN" } };

/** A connection that lists everything of acme, and one that names repositories. */
const CONNECTIONS: Readonly<Record<Kind, (url: string) => readonly ConnectionConfig[]>> = {
  gitlab: (url) => [
    { type: "gitlab", url, groups: ["acme"], ...TOKEN },
    { type: "gitlab", url, users: ["acme"], ...TOKEN },
    { type: "gitlab", url, all: true, ...TOKEN },
    { type: "gitlab", url, repos: ["acme/one", "acme/two", "acme/three"], ...TOKEN },
  ],
  gitea: (url) => [
    { type: "gitea", url, orgs: ["acme"], ...TOKEN },
    { type: "gitea", url, users: ["acme"], ...TOKEN },
    { type: "gitea", url, all: true, ...TOKEN },
    { type: "gitea", url, repos: ["acme/one", "acme/two", "acme/three"], ...TOKEN },
  ],
  bitbucket: (url) => {
    const api = `${url}/2.0`;
    return [
      { type: "bitbucket", url, api, workspaces: ["acme"], ...TOKEN },
      { type: "bitbucket", url, api, workspaces: ["acme"], ...TOKEN, username: "ada@example.org" },
      { type: "bitbucket", url, api, repos: ["acme/one", "acme/two", "acme/three"], ...TOKEN },
    ];
  },
  azuredevops: (url) => [
    { type: "azuredevops", url, orgs: ["acme"], ...TOKEN },
    { type: "azuredevops", url, projects: ["acme/p"], ...TOKEN },
    { type: "azuredevops", url, repos: ["acme/p/one", "acme/p/two", "acme/p/three"], ...TOKEN },
  ],
  gerrit: (url) => [
    { type: "gerrit", url, ...TOKEN, username: "ada" },
    {
      type: "gerrit",
      url,
      repos: ["acme/one", "acme/two", "acme/three"],
      ...TOKEN,
      username: "ada",
    },
  ],
};

const KINDS = Object.keys(CONNECTIONS) as Kind[];
const pathOf = (kind: Kind, name: string): string =>
  kind === "azuredevops" ? `acme/p/${name}` : `acme/${name}`;

async function setUp(kind: Kind) {
  const remotes = await serveRemotes();
  const hosted = serveHost(remotes, kind);
  const names = ["one", "two", "three"];
  for (const name of names)
    commit(remotes.root, gitPath(kind, pathOf(kind, name)), { "a.ts": `needle ${name}\n` });
  hosted.repositories = names.map((name, n) => ({ id: n + 1, path: pathOf(kind, name) }));
  const workplace = await openWorkplace();
  const env = { TOKEN: hosted.token };
  return { remotes, hosted, workplace, env, connections: CONNECTIONS[kind](remotes.url) };
}

test.each(KINDS)("%s: every way to list finds all pages", async (kind) => {
  const { workplace, env, connections } = await setUp(kind);
  const name = (one: string) => `127.0.0.1/${pathOf(kind, one)}`;
  const all = ["one", "three", "two"].map(name);
  for (const [n, connection] of connections.entries()) {
    const report = await workplace.sync(connection, { env });
    const outcome = n === 0 ? "indexed" : "unchanged";
    expect(outcomes(report), JSON.stringify(connection)).toEqual(
      all.map((one) => `${one}: ${outcome}`),
    );
  }
  expect(await workplace.find("needle")).toEqual(all);
});

const TYPES = {
  gitlab: "gitlab",
  gitea: "gitea",
  bitbucket: "bitbucketCloud",
  azuredevops: "azuredevops",
  gerrit: "gerrit",
} as const;

test.each(someOf(KINDS, 3))(
  "%s: a private repository is fetched with the token, with its metadata",
  async (kind) => {
    const { remotes, hosted, workplace, env, connections } = await setUp(kind);
    const [one, two, three] = hosted.repositories;
    Object.assign(one!, { private: true, fork: true, archived: true, stars: 9 });
    Object.assign(two!, { hidden: true });
    expect(outcomes(await workplace.sync(connections[0]!, { env })).at(-1)).toMatch(/indexed$/);
    const repositories = await workplace.engine.repositories();
    const found = repositories.find(({ displayName }) => displayName === one!.path);
    const isHidden = kind === "gitlab" || kind === "azuredevops" || kind === "gerrit";
    expect(repositories).toHaveLength(isHidden ? 2 : 3);
    expect(found).toMatchObject({
      codeHostType: TYPES[kind],
      public: false,
      fork: kind !== "gerrit",
      archived: kind !== "bitbucket" && kind !== "azuredevops",
      rank: kind === "gitlab" || kind === "gitea" ? 0.6 : 0.5,
      webUrl:
        kind === "gerrit"
          ? `${remotes.url}/plugins/gitiles/${one!.path}`
          : `${remotes.url}/${gitPath(kind, one!.path)}`,
    });
    const open = repositories.find(({ displayName }) => displayName === three!.path);
    expect(open).toMatchObject({ public: kind !== "gerrit", fork: false, archived: false });
  },
);

test.each(["gitlab", "gitea"] as const)(
  "%s: content for members only is not public, even in a public repository",
  async (kind) => {
    const { hosted, workplace, env, connections } = await setUp(kind);
    Object.assign(hosted.repositories[1]!, { membersOnly: true });
    await workplace.sync(connections[0]!, { env });
    const repositories = await workplace.engine.repositories();
    expect(repositories.map((one) => [one.displayName, one.public])).toEqual([
      ["acme/one", true],
      ["acme/three", true],
      ["acme/two", false],
    ]);
  },
);

test.each(someOf(KINDS, 3, 1))(
  "%s: a wrong token and a missing repository are reported",
  async (kind) => {
    const { remotes, workplace, env, connections } = await setUp(kind);
    const refused = await workplace.sync(connections[0]!, { env: { TOKEN: "wrong-token-000" } });
    expect(outcomes(refused)).toHaveLength(1);
    expect(outcomes(refused)[0]).toMatch(
      /^\w+(: acme(\/p)?)?: http\S+ rejected the token with 401: it is missing, wrong or expired \(401 Unauthorized\)$/,
    );
    const repos = [pathOf(kind, "one"), pathOf(kind, "nothing")];
    const named = { ...connections.at(-1)!, repos } as ConnectionConfig;
    const report = outcomes(await workplace.sync(named, { env }));
    expect(report).toHaveLength(2);
    expect(report[0]).toMatch(
      new RegExp(
        `^repos: ${repos[1]}: there is no ${remotes.url}/.*, or the token may not read it$`,
      ),
    );
    expect(report[1]).toBe(`127.0.0.1/${repos[0]}: indexed`);
  },
);

test.each(someOf(KINDS, 3))("%s: without a token, public repositories are found", async (kind) => {
  const { hosted, workplace, connections } = await setUp(kind);
  hosted.repositories[0]!.private = true;
  const { token: _token, username: _username, ...open } = connections[0]!;
  const report = await workplace.sync(open as ConnectionConfig);
  expect(outcomes(report)).toEqual(
    ["three", "two"].map((name) => `127.0.0.1/${pathOf(kind, name)}: indexed`),
  );
});
