/** The command on a cluster: from an empty database to two servers that answer the same. */

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import {
  directorySegments,
  openCluster,
  postgresCatalog,
  postgresSegments,
} from "../../src/cluster/index.ts";
import { quern, type Ran } from "../cli/terminal.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { shop } from "./machines.ts";
import { emptyDatabase, poolOn, postgresPort, postgresTest as test } from "./postgres.ts";

const urlOf = (database: string): string =>
  `postgres://quern@127.0.0.1:${postgresPort}/${database}`;

/** Writes the configuration file of a machine, in a folder of its own. */
function fileOf(content: unknown): string {
  const file = join(temporaryFolder(), "cluster.json");
  writeFileSync(file, JSON.stringify(content));
  return file;
}

interface Running {
  /** What it printed first. */
  readonly announced: Readonly<Record<string, string>>;
  stop(): Promise<Ran>;
}

/** Runs a command until the test ends. Resolves when the command has printed that it runs. */
async function start(argv: readonly string[], env: Record<string, string> = {}): Promise<Running> {
  const stop = new AbortController();
  let ended: Promise<Ran> | undefined;
  const announced = await new Promise<string>((resolve, reject) => {
    const world = { signal: stop.signal, onOutput: resolve, env };
    ended = quern([...argv, "--workers", "0", "--json"], world);
    void ended.then(({ stderr }) => reject(new Error(stderr)));
    onTestFinished(async () => (stop.abort(), void (await ended)));
  });
  return {
    announced: JSON.parse(announced) as Record<string, string>,
    stop() {
      stop.abort();
      return ended!;
    },
  };
}

async function serve(file: string, ...argv: string[]): Promise<string> {
  const flags = ["--cluster", file, "--port", "0", "--no-page"];
  return (await start(["serve", ...flags, ...argv])).announced["url"]!;
}

test("the commands lead from an empty database to two servers with members, metrics and a collection", async () => {
  const database = await emptyDatabase();
  const place = { schema: "search" };
  const config = {
    directory: "./index",
    postgres: { url: urlOf(database), ...place },
    segments: { type: "postgres" },
  };
  const file = fileOf(config);
  expect(await quern(["cluster", "status", file])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("INDEX_NOT_FOUND"),
  });
  const migrated = await quern(["cluster", "migrate", file]);
  expect(migrated).toMatchObject({ code: 0, stderr: "" });
  expect(migrated.stdout).toMatch(/^the tables now have version \d+; they had version 0\n$/);
  expect((await quern(["cluster", "migrate", file])).stdout).toMatch(/version \d+ already\n$/);

  const { secret } = JSON.parse(
    (await quern(["keys", "create", "--cluster", file, "--json"])).stdout,
  ) as { secret: string };
  const servers = [await serve(file), await serve(fileOf(config))];

  const pool = poolOn(database);
  const segments = postgresSegments(pool, place);
  const catalog = postgresCatalog(pool, place);
  const engine = await openCluster({ catalog, segments, directory: temporaryFolder(), workers: 0 });
  onTestFinished(() => engine.close());
  for (const text of ["needle old", "needle new"])
    await engine.index(shop("shop", `${text}\n`), { symbols: "skip" }); // publishes once
  await engine.enqueue("later", null);

  const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
  const body = JSON.stringify({ query: "needle", matches: 5 });
  for (const url of servers) {
    const search = async () => {
      const answer = await fetch(`${url}/api/search`, { method: "POST", headers, body });
      const { files } = (await answer.json()) as { files: { chunks: { content: string }[] }[] };
      return files.flatMap(({ chunks }) => chunks.map(({ content }) => content.trim()));
    };
    await expect.poll(search).toEqual(["needle new"]);
    const metrics = await (await fetch(`${url}/api/metrics`, { headers })).text();
    expect(metrics).toContain("\nquern_cluster_up 1\n");
    expect(metrics).toContain('\nquern_cluster_generations_behind{shard="1"} 0\n');
    expect(metrics).toContain('\nquern_cluster_jobs{state="waiting"} 1\n');
    expect(metrics).toMatch(/\nquern_cluster_oldest_due_job_seconds [\d.]+\n/);
    expect(metrics).toMatch(/\nquern_searches_total\{call="search"\} [1-9]/);
  }
  const status = await quern(["cluster", "status", file]);
  expect(status.stdout).toMatch(/^shard 1: generation 2\n1 job waits, 0 running, 0 failed/);
  const told = await quern(["cluster", "status", file, "--json"]);
  expect(JSON.parse(told.stdout)).toMatchObject({
    shards: [{ shard: 1, published: 2 }],
    queue: { waiting: 1, running: 0, failed: 0 },
  });

  expect(await quern(["cluster", "gc", file])).toMatchObject({
    code: 0,
    stdout: "0 objects and 0 rows deleted\n",
  });
  await pool.query(
    `insert into search.quern_lease values ('collection', 'another', now() + interval '1 min')`,
  );
  expect(await quern(["cluster", "gc", file])).toMatchObject({
    code: 1,
    stderr: "quern: another process is already deleting unused objects\n",
  });
});

/** Resolves to a port of the loopback interface that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

test("one file configures nodes and a front, and answers are partial when a node stops", async () => {
  const database = await emptyDatabase();
  const objects = temporaryFolder();
  const shared = {
    postgres: { url: urlOf(database) },
    segments: { type: "directory", path: objects },
    replicas: 1,
    shardBytes: 20,
  };
  const secret = { env: "SECRET" };
  const ofNodes = { name: { env: "NODE" }, url: { env: "URL" }, secret, diskBytes: 2 ** 30 };
  const nodeFile = (): string => fileOf({ ...shared, directory: "./node", node: ofNodes });
  const machine = async (name: string) => ({
    SECRET: "a secret of the machines",
    NODE: name,
    URL: `http://127.0.0.1:${await freePort()}`,
  });
  const file = nodeFile();
  await quern(["cluster", "migrate", file]); // needs no secret of a node

  const one = await machine("one");
  const first = await start(["cluster", "node", file], one);
  expect(first.announced).toEqual({ name: "one", url: one.URL, address: new URL(one.URL).host });
  // this node serves users, too
  const both = await start(
    ["serve", "--cluster", nodeFile(), "--port", "0", "--no-page", "--anonymous", "all"],
    await machine("two"),
  );
  const frontFile = fileOf({ ...shared, directory: "./front", secret });
  const front = await start(
    ["serve", "--cluster", frontFile, "--port", "0", "--no-page", "--anonymous", "all"],
    { SECRET: one.SECRET },
  );

  const pool = poolOn(database);
  const engine = await openCluster({
    catalog: postgresCatalog(pool),
    segments: directorySegments(objects),
    directory: temporaryFolder(),
    workers: 0,
    replicas: 1,
    shardBytes: 20,
    secret: one.SECRET,
  });
  onTestFinished(() => engine.close());
  const texts = Array.from({ length: 6 }, (_, n) => `needle ${n} and some more\n`);
  for (let n = 1; n <= texts.length; n++) await engine.index(shop("shop", ...texts.slice(0, n)));
  const search = async ({ announced: { url } }: Running) => {
    const body = JSON.stringify({ query: "needle", matches: 100 });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${url}/api/search`, { method: "POST", headers, body });
    const { stats, isSearchExhaustive } = (await answer.json()) as {
      stats: { totalMatchCount: number; crashes: number };
      isSearchExhaustive: boolean;
    };
    return [stats.totalMatchCount, stats.crashes > 0, isSearchExhaustive];
  };
  await expect.poll(() => search(front)).toEqual([6, false, true]);
  await expect.poll(() => search(both)).toEqual([6, false, true]);
  const { stdout } = await quern(["cluster", "status", file]);
  expect(stdout).toMatch(/^node one: live, [1-9]\d* slices? ready$/m);
  expect(stdout).toMatch(/^node two: live, [1-9]\d* slices? ready$/m);
  const { nodes } = JSON.parse((await quern(["cluster", "status", file, "--json"])).stdout) as {
    nodes: object[];
  };
  expect(nodes).toMatchObject([
    { name: "one", isLive: true, isPlaced: true, missingBytes: 0 },
    { name: "two", isLive: true, isPlaced: true, missingBytes: 0 },
  ]);

  expect(await first.stop()).toMatchObject({ code: 0, stderr: "" });
  const [left, hasLost, isWhole] = await search(front); // partial, and not overloaded
  expect(left).toBeLessThan(6);
  expect([hasLost, isWhole]).toEqual([true, false]);
  expect((await quern(["cluster", "status", file])).stdout).toMatch(
    /^node one: silent, 0 slices ready, lacks 1 MB$/m,
  );

  const drain = (name: string) => quern(["cluster", "drain", file, name]);
  const isWholeAnswer = [6, false, true];
  expect(await drain("one")).toMatchObject({
    code: 0,
    stdout: "node one has given its slices away; stop it now\n",
  });
  expect(await search(front)).toEqual(isWholeAnswer);
  expect((await quern(["cluster", "status", file])).stdout).toMatch(
    /^node one: gone, 0 slices ready$/m,
  );
  expect(await drain("three")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("there is no node three; there are: one, two"),
  });
  expect(await drain("two")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("no other node runs"),
  });
  await start(["cluster", "node", file], one);
  expect(JSON.parse((await quern(["cluster", "drain", file, "two", "--json"])).stdout)).toEqual({
    name: "two",
  });
  expect((await quern(["cluster", "status", file])).stdout).toMatch(
    /^node two: leaving, 0 slices ready$/m,
  );
  expect(await search(front)).toEqual(isWholeAnswer);
});

test("a command that needs a node's secret says which variable has it", async () => {
  const secret = { env: "SECRET" };
  const node = { name: "one", url: "http://127.0.0.1:1", secret, diskBytes: 1 };
  const refused = async (content: object, env = {}) =>
    expect((await quern(["cluster", "node", fileOf({ ...GOOD, ...content })], { env })).stderr);
  (await refused({})).toContain("the file has no node");
  (await refused({ node })).toContain("node.secret: the environment variable SECRET is not set");
  (await refused({ node }, { SECRET: "short" })).toContain("at least 16 characters");
  (await refused({ node: { ...node, listen: "://" } }, { SECRET: "short" })).toContain(
    "not an address such as 10.0.0.1:7001",
  );
});

/** Returns the commands of a section of docs/growing.md, in order. */
function commandsOf(section: string): string[][] {
  const page = readFileSync("docs/growing.md", "utf8");
  const [, rest] = page.split(`## ${section}\n`);
  const [text] = rest!.split(/\n##/);
  const blocks = [...text!.matchAll(/```sh\n([^]*?)```/g)].flatMap(([, block]) =>
    block!.split("\n"),
  );
  return blocks.map((line) => line.trim().split(/ +/)).filter(([program]) => program === "quern");
}

const SECTION = ["cluster", "users", "keys", "serve", "cluster", "serve"];

test("the commands of docs/growing.md lead from one machine to three", async () => {
  const database = await emptyDatabase();
  const objects = temporaryFolder();
  const clones = temporaryFolder();
  const git = (...args: string[]) => execFileSync("git", ["-C", join(clones, "shop"), ...args]);
  mkdirSync(join(clones, "shop"));
  writeFileSync(join(clones, "shop", "a.ts"), "needle\n");
  git("init", "-q");
  git("add", ".");
  git("-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "-m", "first");
  const sync = fileOf({ connections: { here: { type: "folder", path: clones } } });
  const machine = () =>
    fileOf({
      directory: "./index",
      postgres: { url: urlOf(database) },
      segments: { type: "directory", path: objects },
    });
  const first = machine();
  const all = commandsOf("From one machine to three");
  expect(all.map(([, name]) => name)).toEqual(SECTION);
  let secret = "";
  const search = async (url: string): Promise<number | undefined> => {
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
    const body = JSON.stringify({ query: "needle", matches: 5 });
    const answer = await fetch(`${url}/api/search`, { method: "POST", headers, body });
    return ((await answer.json()) as { stats?: { totalMatchCount: number } }).stats
      ?.totalMatchCount;
  };
  for (const [, name = "", ...args] of all) {
    const given = args.map((one) =>
      one === "cluster.json" ? first : one === "quern.json" ? sync : one,
    );
    if (name !== "serve") {
      const ran = await quern([name, ...given]);
      expect(ran).toMatchObject({ code: 0, stderr: "" });
      if (name === "keys") secret = ran.stdout.trim();
    } else if (given.includes("--sync")) {
      const url = await serve(first, "--sync", sync);
      await expect.poll(() => search(url)).toBe(1);
    } else
      for (let more = 0; more < 2; more++) expect(await search(await serve(machine()))).toBe(1);
  }
});

test("the address of PostgreSQL may be in the environment", async () => {
  const url = { env: "SEARCH_DATABASE" };
  const file = fileOf({ directory: "i", postgres: { url }, segments: { type: "postgres" } });
  expect(await quern(["cluster", "migrate", file])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("the environment variable SEARCH_DATABASE is not set"),
  });
  const env = { SEARCH_DATABASE: urlOf(await emptyDatabase()) };
  expect(await quern(["cluster", "migrate", file, "--json"], { env })).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^\{"from":0,"to":\d+\}\n$/),
  });
});

const GOOD = {
  directory: "i",
  postgres: { url: "postgres://a@b/c" },
  segments: { type: "postgres" },
};

const ADDRESS =
  'must look like "postgres://user@host:5432/name" without a password, or { "env": "NAME" }';

test.each<[content: unknown, words: string]>([
  [{}, "directory is missing; postgres is missing; segments is missing"],
  [[], "the file must be an object"],
  [{ ...GOOD, directory: 7 }, "directory must be a string"],
  [{ ...GOOD, directory: "" }, "directory: must not be empty"],
  [{ ...GOOD, postgres: "postgres://ada:secret@b/c" }, "postgres must be an object"],
  [{ ...GOOD, postgres: {} }, "postgres.url is missing"],
  [{ ...GOOD, postgres: { url: "postgres://ada:secret@b/c" } }, `postgres.url: ${ADDRESS}`],
  [{ ...GOOD, postgres: { url: "mysql://ada:secret@b/c" } }, `postgres.url: ${ADDRESS}`],
  [{ ...GOOD, postgres: { url: { env: 3 } } }, `postgres.url: ${ADDRESS}`],
  [
    { ...GOOD, postgres: { url: { env: "ada:secret@b" } } },
    "postgres.url.env: must be the name of an environment variable; the secret itself must not be in the file",
  ],
  [{ ...GOOD, segments: "s3" }, "segments must be an object"],
  [
    { ...GOOD, segments: {} },
    "segments.type is missing; it must be one of postgres, directory, s3",
  ],
  [{ ...GOOD, segments: { type: "ftp" } }, "segments.type must be one of postgres, directory, s3"],
  [{ ...GOOD, segments: { type: "s3" } }, "segments.bucket is missing"],
  [
    { ...GOOD, segments: { type: "s3", bucket: "b", pathStyle: "secret@" } },
    "segments.pathStyle must be true or false",
  ],
  [
    { ...GOOD, segments: { type: "s3", bucket: "b", endpoint: "secret@" } },
    "segments.endpoint: must be an address",
  ],
  [
    { ...GOOD, segments: { type: "postgres", path: "x" } },
    'segments: unknown field "path", which belongs elsewhere',
  ],
  [{ ...GOOD, shardBytes: 0 }, "shardBytes: must be 1 or more"],
  [{ ...GOOD, shardBytes: 1.5 }, "shardBytes must be a whole number"],
  [{ ...GOOD, shardBytes: "secret@" }, "shardBytes must be a number"],
  [{ ...GOOD, nodes: 3 }, 'the file: unknown field "nodes"; did you mean node?'],
  [{ ...GOOD, shardBites: 3 }, 'the file: unknown field "shardBites"; did you mean shardBytes?'],
  [{ ...GOOD, replicas: 0 }, "replicas: must be 1 or more"],
  [
    { ...GOOD, secret: "a secret of the machines" },
    'secret: must be { "env": "NAME" }, with the name of an environment variable; the secret itself must not be in the file',
  ],
  [
    { ...GOOD, node: { name: "one" } },
    "node.url is missing; node.secret is missing; node.diskBytes is missing",
  ],
])("the file %j is rejected, and no secret is repeated", async (content, words) => {
  const file = fileOf(content);
  const stderr = `quern: INVALID_REQUEST: ${file}: ${words}\n`;
  for (const command of [
    ["cluster", "status", file],
    ["serve", "--cluster", file],
  ])
    expect(await quern(command)).toMatchObject({ code: 2, stderr });
});

test("a missing file and a missing server are reported", async () => {
  expect(await quern(["cluster", "gc", "/nowhere/cluster.json"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("SOURCE_NOT_FOUND"),
  });
  const url = "postgres://quern@127.0.0.1:1/none";
  const file = fileOf({ ...GOOD, postgres: { url } });
  expect(await quern(["cluster", "status", file])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("ECONNREFUSED"),
  });
});
