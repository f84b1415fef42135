/** Tests failures during a sync: pauses that hosts demand, silence, stops, leftovers, damage, names that collide. */

import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { ConnectionConfig, SyncProgress } from "../../src/sync/index.ts";
import { nextLink, waitAsked } from "../../src/sync/hosts/host-client.ts";
import { updateClone } from "../../src/sync/clones/clone.ts";
import { isWanted, nameOf, rankOf } from "../../src/sync/wanted.ts";
import { setUp } from "./shop.ts";
import { outcomes } from "./outcomes.ts";
import { commit, inRepository } from "./remotes.ts";
import { STALL, watchSilence } from "./stalls.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const SECONDS = NOW / 1_000;

test.each<[number, Record<string, string>, number | undefined]>([
  [429, { "retry-after": "7" }, 7_000],
  [403, { "retry-after": "60" }, 60_000],
  [503, { "retry-after": "Thu, 01 Jan 2026 00:00:05 GMT" }, 5_000],
  [503, { "retry-after": "soon" }, 60_000],
  [403, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(SECONDS + 9) }, 10_000],
  [403, { "x-ratelimit-remaining": "12", "x-ratelimit-reset": String(SECONDS + 9) }, undefined],
  [403, {}, undefined],
  [429, {}, 60_000],
  [429, { "ratelimit-remaining": "0", "ratelimit-reset": String(SECONDS + 3) }, 4_000],
  [429, { "ratelimit-reset": "30" }, 31_000],
  [429, { "x-ratelimit-reset": String(SECONDS - 100) }, 1_000],
  [503, {}, undefined],
  [200, { "retry-after": "7" }, undefined],
])("the status %i with %j requests a wait of %s ms", (status, headers, ms) => {
  expect(waitAsked({ status, headers: new Headers(headers) }, NOW)).toBe(ms);
});

test.each([
  [`<https://h/a?page=2>; rel="next", <https://h/a?page=9>; rel="last"`, "https://h/a?page=2"],
  [`<https://h/a?page=1>; rel="prev", <https://h/a?page=3>; rel=next`, "https://h/a?page=3"],
  [`<https://h/a?q=a,b>; title="x"; rel="last next"`, "https://h/a?q=a,b"],
  [`<https://h/a>; rel="nextish"`, undefined],
  ["", undefined],
])("finds the next page in %s", (link, next) => {
  expect(nextLink(new Headers({ link }))).toBe(next);
});

const shop = {
  kind: "repository" as const,
  id: "1",
  path: "acme/Shop",
  host: "h",
  place: { kind: "remote" as const, url: "https://h/acme/Shop.git" },
  topics: ["Search"],
  bytes: 3_000_000,
  archived: true,
};

test.each<[Pick<ConnectionConfig, "include" | "exclude">, boolean]>([
  [{}, true],
  [{ include: { names: ["acme/*"] } }, true],
  [{ include: { names: ["ACME/sho?"] } }, true],
  [{ include: { names: ["acme"] } }, false],
  [{ include: { names: [] } }, false],
  [{ include: { topics: ["search"] } }, true],
  [{ include: { names: ["acme/*"], topics: ["other"] } }, false],
  [{ exclude: { names: ["*/shop"] } }, false],
  [{ exclude: { topics: ["search"] } }, false],
  [{ exclude: { archived: true } }, false],
  [{ exclude: { forks: true } }, true],
  [{ exclude: { largerThanMB: 3 } }, true],
  [{ exclude: { largerThanMB: 2.9 } }, false],
])("%j includes an archived repository of 3 MB: %s", (config, taken) => {
  expect(isWanted(shop, config)).toBe(taken);
});

test("names and ranks follow the template and the stars", () => {
  expect(nameOf(shop)).toBe("h/acme/Shop");
  expect(nameOf(shop, "code/{name}")).toBe("code/Shop");
  expect(nameOf({ ...shop, host: "" })).toBe("acme/Shop");
  expect(nameOf({ ...shop, path: "{host}/$&" })).toBe("h/{host}/$&");
  expect([0, 9, 99_999, 1e9].map(rankOf)).toEqual([0.5, 0.6, 1, 1]);
});

const SHOP = "127.0.0.1/acme/shop";

test("waits as long as the host demands, and reports it", async () => {
  const { github, workplace, connection } = await setUp();
  let refusals = 2;
  github.before = (_, response) => {
    if (refusals-- <= 0) return false;
    const headers =
      refusals === 1
        ? { "retry-after": "1" }
        : { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1" };
    response.writeHead(refusals === 1 ? 429 : 403, headers).end("{}");
    return true;
  };
  const waits: SyncProgress[] = [];
  const onProgress = (progress: SyncProgress) =>
    void (progress.kind === "waiting" && waits.push(progress));
  expect(outcomes(await workplace.sync(connection, { onProgress }))).toEqual([`${SHOP}: indexed`]);
  const { host } = new URL(connection.url);
  const wait = { kind: "waiting", connection: "work", host };
  expect(waits).toEqual([
    { ...wait, waitMs: 1_000 },
    { ...wait, waitMs: 2_000 },
  ]);
});

test("does not wait for longer than an hour", async () => {
  const { github, workplace, connection } = await setUp();
  github.before = (_, response) => (response.writeHead(429, { "retry-after": "7200" }).end(), true);
  expect(outcomes(await workplace.sync(connection))).toEqual([
    `orgs: acme: ${connection.url}/api/v3/orgs/acme/repos wants a wait of 120 minutes; sync again after that`,
  ]);
});

test("retries failures that may pass, up to a limit", async () => {
  const { github, workplace, connection } = await setUp();
  let failures = 1;
  github.before = ({ socket }, response) => {
    if (failures-- <= 0) return false;
    if (failures === 0) response.writeHead(502).end("<html>");
    else socket.destroy();
    return true;
  };
  expect(outcomes(await workplace.sync(connection))).toEqual([`${SHOP}: indexed`]);
  failures = 100;
  expect(outcomes(await workplace.sync(connection))[0]).toMatch(
    /^orgs: acme: .* cannot be reached: /,
  );
  expect(failures).toBe(96);
});

test.each<[string, string, RegExp]>([
  ["a page", "<html>sign in</html>", / returned something other than JSON$/],
  [
    "another object",
    `{"a":1}`,
    / returned an unexpected response: the response is not as expected$/,
  ],
  ["a broken entry", `[{"id":"x"}]`, / returned an unexpected response: 0\.id is not as expected$/],
])("%s instead of a list is reported", async (_, body, message) => {
  const { github, workplace, connection } = await setUp();
  github.before = (_, response) => (response.writeHead(200).end(body), true);
  expect(outcomes(await workplace.sync(connection))[0]).toMatch(message);
});

test("a silent fetch is given up, and the others continue", async () => {
  const { remotes, github, workplace, connection } = await setUp();
  github.repositories.push({ id: 2, full_name: "acme/silent" });
  remotes.hanging.add("acme/silent");
  const letSilencePass = watchSilence();
  let finished = 0;
  const run = workplace.syncAll(
    { connections: { work: connection }, sync: STALL },
    { onProgress: ({ kind }) => void (finished += kind === "repository" ? 1 : 0) },
  );
  await expect.poll(() => finished).toBe(1);
  await letSilencePass();
  expect(outcomes(await run)).toEqual([
    `${SHOP}: indexed`,
    expect.stringMatching(
      /acme\/silent: failed: git ls-remote: the remote sent nothing for 1800 s, so the transfer was stopped$/,
    ),
  ]);
});

/** Returns the processes of git that are connected to the server. */
const talking = (url: string): string[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, "utf8");
      } catch {
        return "";
      }
    })
    .filter((line) => line.includes(url));

test("a fetch that fills the disk ends before it is full", async () => {
  const { remotes, workplace } = await setUp();
  remotes.hanging.add("acme/shop");
  const updating = updateClone(join(workplace.folder, "clone"), {
    url: `${remotes.url}/acme/shop.git`,
    credential: undefined,
    defaultBranch: undefined,
    signal: new AbortController().signal,
    stallMs: 60_000,
    leastFree: Infinity,
  });
  await expect(updating).rejects.toMatchObject({
    code: "SOURCE_UNREADABLE",
    message: expect.stringContaining("the disk is nearly full"),
  });
});

test("a stop ends the run with all its processes", async () => {
  const { remotes, workplace, connection } = await setUp();
  remotes.hanging.add("acme/shop");
  const stop = new AbortController();
  const run = workplace.sync(connection, { signal: stop.signal });
  await expect.poll(() => talking(remotes.url).length).toBeGreaterThan(0);
  stop.abort();
  await expect(run).rejects.toMatchObject({ code: "ABORTED" });
  await expect.poll(() => talking(remotes.url)).toEqual([]);
  remotes.hanging.clear();
  expect(outcomes(await workplace.sync(connection))).toEqual([`${SHOP}: indexed`]);
});

const cloneOf = (folder: string): string => join(folder, "index/.sync/1/1/clone.git");

test("the remains of a killed process do not hinder the next one", async () => {
  const { remotes, workplace, connection } = await setUp();
  await workplace.sync(connection);
  const clone = cloneOf(workplace.folder);
  const left = ["packed-refs.lock", "HEAD.lock", "refs/heads/main.lock", "objects/pack/tmp_pack_x"];
  for (const name of left) writeFileSync(join(clone, name), "");
  writeFileSync(join(workplace.folder, "index/.sync/lock"), "999999999");
  commit(remotes.root, "acme/shop", { "a.ts": "second\n" });
  expect(outcomes(await workplace.sync(connection))).toEqual([`${SHOP}: indexed`]);
  expect(await workplace.find("second")).toEqual([SHOP]);
  expect(left.filter((name) => existsSync(join(clone, name)))).toEqual([]);
});

test.each<[string, (clone: string) => void]>([
  ["a clone without its HEAD", (clone) => rmSync(join(clone, "HEAD"))],
  ["a clone without objects", (clone) => rmSync(join(clone, "objects"), { recursive: true })],
  ["no clone at all", (clone) => rmSync(clone, { recursive: true })],
  ["an invalid record", (clone) => writeFileSync(join(clone, "../repository.json"), "{")],
])("%s is repaired", async (_, damage) => {
  const { remotes, workplace, connection } = await setUp();
  await workplace.sync(connection);
  damage(cloneOf(workplace.folder));
  commit(remotes.root, "acme/shop", { "a.ts": "second\n" });
  expect(outcomes(await workplace.sync(connection))).toEqual([`${SHOP}: indexed`]);
  expect(await workplace.find("second")).toEqual([SHOP]);
});

test("only one process syncs a folder at a time", async () => {
  const { remotes, workplace, connection } = await setUp();
  remotes.hanging.add("acme/shop");
  const stop = new AbortController();
  const first = workplace.sync(connection, { signal: stop.signal });
  first.catch(() => {});
  await expect(workplace.sync(connection)).rejects.toMatchObject({
    code: "INDEX_LOCKED",
    message: `process ${process.pid} syncs into ${join(workplace.folder, "index/.sync")}; wait for it, or end it`,
  });
  stop.abort();
  await expect(first).rejects.toMatchObject({ code: "ABORTED" });
});

test("of two repositories with one name, the first in the configuration gets it", async () => {
  const { remotes, workplace, connection } = await setUp();
  const url = `${remotes.url}/acme/shop.git`;
  const connections = { work: connection, again: { type: "git" as const, urls: [url] } };
  const report = await workplace.syncAll({ connections });
  expect(outcomes(report)).toEqual([
    `${SHOP}: indexed`,
    `${SHOP}: failed: acme/shop would be called "${SHOP}", as a repository of the connection work is; leave one of them out, or give a connection another name template`,
  ]);
  const named = { ...connections, again: { ...connections.again, name: "again/{name}" } };
  expect(outcomes(await workplace.syncAll({ connections: named }))).toEqual([
    `${SHOP}: unchanged`,
    "again/shop: indexed",
  ]);
  expect(report.connections.map(({ id, name }) => [id, name])).toEqual([
    [1, "work"],
    [2, "again"],
  ]);
});

test("an excluded repository is removed at once, and one without a connection after a while", async () => {
  const { workplace, connection } = await setUp();
  await workplace.sync(connection);
  const without = { ...connection, exclude: { names: ["acme/shop"] } };
  expect(outcomes(await workplace.sync(without))).toEqual([`${SHOP}: removed`]);
  expect(await workplace.names()).toEqual([]);
  await workplace.sync(connection);
  expect(outcomes(await workplace.syncAll({ connections: {} }))).toEqual([`${SHOP}: gone`]);
  expect(await workplace.names()).toEqual([SHOP]);
  const now = { connections: {}, sync: { removeAfter: "0s" } };
  expect(outcomes(await workplace.syncAll(now))).toEqual([`${SHOP}: removed`]);
  expect(await workplace.names()).toEqual([]);
});

test("branches and tags are selected by pattern, and the default branch may change", async () => {
  const { remotes, workplace, connection } = await setUp();
  for (const branch of ["release-1", "release-2", "topic"])
    commit(remotes.root, "acme/shop", { "b.ts": `on ${branch}\n` }, branch);
  inRepository(remotes.root, "acme/shop", "tag", "v1", "release-1");
  inRepository(remotes.root, "acme/shop", "tag", "nightly", "release-1");
  await workplace.sync({ ...connection, branches: ["release-*"], tags: ["v*"] });
  const revisions = async () =>
    (await workplace.engine.repositories())[0]!.revisions.map(({ name }) => name);
  expect(await revisions()).toEqual(["main", "release-1", "release-2", "v1"]);
  inRepository(remotes.root, "acme/shop", "symbolic-ref", "HEAD", "refs/heads/topic");
  inRepository(remotes.root, "acme/shop", "branch", "-D", "main");
  expect(outcomes(await workplace.sync(connection))).toEqual([`${SHOP}: indexed`]);
  expect(await revisions()).toEqual(["topic"]);
});

test.each<[what: string, damage: (clone: string) => void, told: RegExp]>([
  [
    "a reference has an invalid name",
    (clone) => {
      execFileSync("git", ["-C", clone, "pack-refs", "--all"]);
      const file = join(clone, "packed-refs");
      const text = readFileSync(file, "utf8");
      writeFileSync(file, `${text}${/^[0-9a-f]{40}/m.exec(text)![0]} refs/heads/../../x\n`);
    },
    /^one: failed: git could not read the repository/,
  ],
  [
    "HEAD names a missing branch",
    (clone) => writeFileSync(join(clone, "HEAD"), "ref: refs/heads/none\n"),
    /^one: failed: HEAD of the repository .* names refs\/heads\/none/,
  ],
])("a clone that is read in place stays in the index if %s", async (_, damage, told) => {
  const { remotes, workplace } = await setUp();
  const clone = join(workplace.folder, "clones/one.git");
  execFileSync("git", ["clone", "--quiet", "--bare", `${remotes.root}/acme/shop.git`, clone]);
  const folder = { type: "folder" as const, path: join(workplace.folder, "clones") };
  expect(outcomes(await workplace.sync(folder))).toEqual(["one: indexed"]);
  damage(clone);
  expect(outcomes(await workplace.sync(folder))).toEqual([expect.stringMatching(told)]);
  expect(await workplace.engine.repository("one")).toBeDefined();
});

test("a folder of clones is read in place", async () => {
  const { remotes, workplace } = await setUp();
  const clones = join(workplace.folder, "clones");
  mkdirSync(join(clones, "deep/er"), { recursive: true });
  for (const name of ["one.git", "deep/two.git"])
    execFileSync("git", [
      "clone",
      "--quiet",
      "--bare",
      `${remotes.root}/acme/shop.git`,
      join(clones, name),
    ]);
  execFileSync("git", ["init", "--quiet", join(clones, "deep/er/empty")]);
  const source = `${remotes.url}/acme/shop.git`; // this process serves it, so it must not block
  await promisify(execFile)("git", ["clone", "--quiet", source, join(clones, "work")]);
  const folder = { type: "folder" as const, path: clones };
  expect(outcomes(await workplace.sync(folder))).toEqual([
    `${SHOP}: indexed`,
    "deep/er/empty: empty",
    "deep/two: indexed",
    "one: indexed",
  ]);
  expect(outcomes(await workplace.sync({ ...folder, depth: 1 }))).toEqual([
    `${SHOP}: unchanged`,
    "deep/er/empty: gone",
    "deep/two: gone",
    "one: unchanged",
  ]);
  expect(outcomes(await workplace.sync({ ...folder, path: join(clones, "none") }))).toEqual([
    `path: ${clones}/none: there is no folder ${clones}/none; check the path`,
  ]);
});
