/**
 * Syncs with a real Gitea or Forgejo: lists of several pages, private and limited owners, forks, archived and empty
 * repositories, renames, deletions, tokens with fewer rights, and webhooks that the server itself signs and sends to
 * `quern serve --sync`. A step throws if its result is wrong.
 */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Engine } from "../../src/engine.ts";
import { open } from "../../src/opened-engine.ts";
import { syncConnections, type ConnectionConfig } from "../../src/sync/index.ts";
import { quern } from "../cli/terminal.ts";
import { startGitea, type GiteaProcess } from "./gitea-process.ts";
import { filesWith } from "./leaks.ts";
import { outcomes } from "./outcomes.ts";
import { commit, inRepository, renameRepository, type Files } from "./remotes.ts";

/** The other repositories of the organization acme, which take two pages of 50. */
const MANY = 55;
const HOOK = "hook-secret-0123456789";
/** The patience for changes. Those of a whole connection are noticed at most once a minute. */
const PATIENCE_MS = 180_000;

interface World {
  readonly gitea: GiteaProcess;
  /** Sends a request to the server's interface. Throws if that fails. */
  readonly api: (method: string, path: string, body?: object, token?: string) => Promise<unknown>;
  readonly engine: Engine;
  readonly folder: string;
  /** The folder from which push() pushes. */
  readonly remotes: string;
  /** Runs sync over one connection and returns what has changed or failed. */
  readonly sync: (connection: object, token?: string) => Promise<string[]>;
  /** The number of repositories that the last run found empty. */
  readonly empty: () => number;
  readonly find: (text: string) => Promise<string[]>;
  /** Makes a commit and pushes it over HTTP. */
  readonly push: (path: string, files: Files, branch?: string) => void;
}

/** Takes all steps, and reports each step that is done. */
export async function walkGitea(binary: string, say: (line: string) => void): Promise<void> {
  const gitea = await startGitea(binary);
  const folder = mkdtempSync(join(tmpdir(), "quern-walk-"));
  const engine = await open(join(folder, "index"));
  try {
    const world = worldOf(gitea, engine, folder);
    say(`version ${((await world.api("GET", "/version")) as { version: string }).version}`);
    for (const [name, step] of STEPS) {
      const from = performance.now();
      await step(world);
      say(`${name}: ${((performance.now() - from) / 1_000).toFixed(1)} s`);
    }
  } finally {
    await engine.close();
    await gitea.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function worldOf(gitea: GiteaProcess, engine: Engine, folder: string): World {
  const api: World["api"] = async (method, path, body, token = gitea.token) => {
    const response = await fetch(`${gitea.url}/api/v1${path}`, {
      method,
      headers: { authorization: `token ${token}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok)
      throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`);
    return text === "" ? undefined : (JSON.parse(text) as unknown);
  };
  const remotes = join(folder, "remotes");
  const address = new URL(gitea.url);
  [address.username, address.password] = ["ada", gitea.token];
  let empty = 0;
  return {
    gitea,
    empty: () => empty,
    api,
    engine,
    folder,
    remotes,
    async sync(connection, token = gitea.token) {
      const work = { type: "gitea", url: gitea.url, token: { env: "TOKEN" }, ...connection };
      const config = {
        connections: { work: work as ConnectionConfig },
        sync: { removeAfter: "0s" },
      };
      const report = await syncConnections(engine, config, { env: { TOKEN: token } });
      const lines = outcomes(report);
      empty = lines.filter((line) => line.endsWith(": empty")).length;
      return lines.filter((line) => !/: (unchanged|empty)$/.test(line));
    },
    async find(text) {
      const { files } = await engine.search({ query: `"${text}"`, matches: 1_000 });
      return [...new Set(files.map(({ repository }) => repository))].sort();
    },
    push(path, files, branch = "main") {
      commit(remotes, path, files, branch);
      inRepository(remotes, path, "push", "--quiet", new URL(`${path}.git`, address).href, branch);
    },
  };
}

const at = (path: string): string => `127.0.0.1/${path}`;
const ACME = { orgs: ["acme"] };

type Step = (world: World) => Promise<void>;
const STEPS: readonly (readonly [name: string, step: Step])[] = [
  ["an organization of two pages, indexed", indexAll],
  ["nothing new", async ({ sync }) => assert.deepEqual(await sync(ACME), [])],
  ["a push", indexPush],
  ["what the server says of its repositories", describeAll],
  ["a rename", followRename],
  ["a deletion", followDeletion],
  ["every way to list", listEveryWay],
  ["tokens that may do less, or nothing", refuseTokens],
  ["webhooks to quern serve --sync", hearWebhooks],
  [
    "no token in any file",
    async ({ folder, gitea }) =>
      assert.deepEqual(filesWith(join(folder, "index"), gitea.token), []),
  ],
];

async function indexAll({ api, push, sync, find, empty }: World): Promise<void> {
  await api("POST", "/orgs", { username: "acme" });
  const names = Array.from({ length: MANY }, (_, n) => `many-${n}`);
  for (const name of names) await api("POST", "/orgs/acme/repos", { name });
  for (const [name, fields] of Object.entries({
    shop: {},
    ledger: { private: true },
    empty: {},
    old: {},
  }))
    await api("POST", "/orgs/acme/repos", { name, ...fields });
  for (const name of ["many-0", "many-54", "shop", "ledger", "old"])
    push(`acme/${name}`, { "a.ts": `needle ${name}\n` });
  await api("PATCH", "/repos/acme/old", { archived: true });
  const full = ["ledger", "many-0", "many-54", "old", "shop"].map((name) => at(`acme/${name}`));
  assert.deepEqual(
    await sync(ACME),
    full.map((name) => `${name}: indexed`),
  );
  assert.equal(empty(), MANY + 4 - full.length);
  assert.deepEqual(await find("needle"), full);
}

async function indexPush({ push, sync, find, engine }: World): Promise<void> {
  push("acme/shop", { "b.ts": "haystack\n" });
  push("acme/shop", { "c.ts": "aside\n" }, "next");
  assert.deepEqual(await sync(ACME), [`${at("acme/shop")}: indexed`]);
  assert.deepEqual(await find("haystack"), [at("acme/shop")]);
  assert.deepEqual(await find("aside"), []);
  assert.deepEqual(await sync({ ...ACME, branches: ["ne?t"] }), [`${at("acme/shop")}: indexed`]);
  const { files } = await engine.search({ query: "aside rev:next", matches: 9 });
  assert.equal(files.length, 1);
  assert.deepEqual(await sync(ACME), [`${at("acme/shop")}: indexed`]);
}

/** A fork, an archived one, stars, topics, and owners whose repositories not everyone may see. */
async function describeAll(world: World): Promise<void> {
  const { api, sync, engine, gitea, push } = world;
  await api("POST", "/repos/acme/shop/forks", { name: "workshop" });
  await api("PUT", "/user/starred/acme/shop");
  await api("PUT", "/repos/acme/shop/topics", { topics: ["tools"] });
  for (const visibility of ["limited", "private"]) {
    await api("POST", "/orgs", { username: visibility, visibility });
    await api("POST", `/orgs/${visibility}/repos`, { name: "open" });
    push(`${visibility}/open`, { "a.ts": `${visibility}\n` });
  }
  const everything = { orgs: ["acme", "limited", "private"], users: ["ada"] };
  await sync({ ...everything, include: { topics: ["TOOLS"] } });
  assert.deepEqual(await namesOf(engine), [at("acme/shop")]);
  await sync(everything);
  const told = new Map<string | undefined, object>();
  for (const { displayName, ...rest } of await engine.repositories()) told.set(displayName, rest);
  const usual = { codeHostType: "gitea", public: true, fork: false, archived: false, rank: 0.5 };
  for (const [name, fields] of Object.entries({
    "acme/shop": { rank: 0.5 + Math.log10(2) / 10 },
    "acme/old": { archived: true },
    "acme/ledger": { public: false },
    "ada/workshop": { fork: true },
    "limited/open": { public: false },
    "private/open": { public: false },
  })) {
    const shown = told.get(name) as Record<string, unknown>;
    const expected = { ...usual, webUrl: `${gitea.url}/${name}`, ...fields };
    const got = Object.fromEntries(Object.keys(expected).map((key) => [key, shown[key]]));
    assert.deepEqual(got, expected, name);
  }
  await sync(ACME); // the others are removed
}

/** The clone continues under the new name, and the old name leads there. */
async function followRename({ api, sync, find, push, remotes }: World): Promise<void> {
  await api("PATCH", "/repos/acme/ledger", { name: "books" });
  renameRepository(remotes, "acme/ledger", "acme/books");
  push("acme/books", { "a.ts": "needle books\n" });
  assert.deepEqual(await sync(ACME), [`${at("acme/books")}: indexed`]);
  assert.deepEqual(await find("needle books"), [at("acme/books")]);
  assert.deepEqual(await find("needle ledger"), []);
  const byOldName = await sync({ repos: ["acme/ledger"] });
  assert.deepEqual(
    byOldName.filter((line) => !line.endsWith(": removed")),
    [],
  );
  assert.deepEqual(await find("needle"), [at("acme/books")]);
  await sync(ACME);
}

async function followDeletion({ api, sync, find }: World): Promise<void> {
  await api("DELETE", "/repos/acme/many-0");
  assert.deepEqual(await sync(ACME), [`${at("acme/many-0")}: removed`]);
  assert.equal((await find("needle")).includes(at("acme/many-0")), false);
}

async function listEveryWay({ sync, engine }: World): Promise<void> {
  const own = await namesOf(engine);
  await sync({ all: true });
  assert.deepEqual(
    await namesOf(engine),
    [...own, ...["ada/workshop", "limited/open", "private/open"].map(at)].sort(),
  );
  await sync({ users: ["ada"], repos: ["acme/shop"] });
  assert.deepEqual(await namesOf(engine), ["acme/shop", "ada/workshop"].map(at));
  await sync({ users: ["acme"] }); // an organization is a user, too
  assert.deepEqual(await namesOf(engine), own);
}

async function namesOf(engine: Engine): Promise<string[]> {
  return (await engine.repositories()).map(({ name }) => name).sort();
}

async function refuseTokens({ sync, engine, gitea }: World): Promise<void> {
  const own = await namesOf(engine);
  const url = `${gitea.url}/api/v1/orgs/acme/repos`;
  const wrong = await sync(ACME, "0123456789012345678901234567890123456789");
  assert.equal(wrong.length, 1);
  assert.match(wrong[0]!, /^orgs: acme: http\S+ rejected the token with 401/);
  const narrow = await sync(ACME, gitea.tokenFor("ada", "read:repository"));
  assert.equal(narrow.length, 1);
  assert.match(narrow[0]!, /403.*required=\[read:organization\]/);
  assert.ok(narrow[0]!.includes(url));
  assert.deepEqual(
    await sync(ACME, gitea.tokenFor("ada", "read:repository,read:organization")),
    [],
  );
  const nothing = await sync({ orgs: ["nobody"], repos: ["acme/nothing"] });
  assert.equal(nothing.length, 2);
  for (const line of nothing)
    assert.match(line, /there is no http.*, or the token may not read it$/);
  assert.deepEqual(await namesOf(engine), own);
}

/**
 * The server signs and sends webhooks. `quern serve --sync` learns of a push, also to a renamed repository, of a new
 * repository and of a deleted one. The server sends nothing about a rename itself.
 */
async function hearWebhooks({ gitea, api, push, folder, remotes }: World): Promise<void> {
  const connections = {
    work: {
      type: "gitea",
      url: gitea.url,
      ...ACME,
      token: { env: "TOKEN" },
      webhook: { secret: { env: "HOOK" } },
    },
  };
  const file = join(folder, "quern.json");
  writeFileSync(file, JSON.stringify({ connections, sync: { removeAfter: "0s" } }));
  const stop = new AbortController();
  let url = "";
  const onOutput = (text: string) => void (url ||= /"url":"([^"]+)"/.exec(text)?.[1] ?? "");
  const db = join(folder, "served");
  const ended = quern(
    ["serve", "--db", db, "--port", "0", "--json", "--anonymous", "all", "--sync", file],
    { env: { TOKEN: gitea.token, HOOK }, signal: stop.signal, onOutput },
  );
  const found = async (query: string): Promise<string> => {
    const body = JSON.stringify({ query, matches: 100 });
    const response = await fetch(`${url}/api/search`, { method: "POST", body });
    const { files } = (await response.json()) as { files: { repository: string }[] };
    return [...new Set(files.map(({ repository }) => repository))].sort().join();
  };
  try {
    await until("serving", async () => url !== "");
    await until("the first run", async () => (await found("haystack")) === at("acme/shop"));
    const hook = (name: string, secret: string) => ({
      type: "gitea",
      active: true,
      events: ["push", "create", "delete", "repository"],
      config: { url: `${url}/api/webhook/${name}`, content_type: "json", secret },
    });
    await api("POST", "/orgs/acme/hooks", hook("work", HOOK));
    push("acme/shop", { "d.ts": "told of it\n" });
    await until("the push", async () => (await found('"told of it"')) === at("acme/shop"));
    await api("PATCH", "/repos/acme/books", { name: "accounts" });
    renameRepository(remotes, "acme/books", "acme/accounts");
    push("acme/accounts", { "b.ts": "renamed since\n" });
    await until("the push after a rename", async () => {
      return (await found('"renamed since"')) === at("acme/accounts");
    });
    await api("POST", "/orgs/acme/repos", { name: "fresh" });
    push("acme/fresh", { "a.ts": "brand new\n" });
    await until(
      "the new repository",
      async () => (await found('"brand new"')) === at("acme/fresh"),
    );
    await api("DELETE", "/repos/acme/fresh");
    await until("the deletion", async () => (await found('"brand new"')) === "");
  } finally {
    stop.abort();
    const { code, stderr } = await ended;
    assert.equal(code, 0, stderr);
  }
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(100))
    if (await holds()) return;
  throw new Error(`waited ${PATIENCE_MS / 1_000} s for ${what} in vain`);
}
