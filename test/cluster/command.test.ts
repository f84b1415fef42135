/** The command on a cluster: from an empty database to two servers that answer the same. */

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { openCluster, postgresCatalog, postgresSegments } from "../../src/cluster/index.ts";
import { quern, type Ran } from "../cli/terminal.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { shop } from "./machines.ts";
import { emptyDatabase, poolOn, postgresPort, postgresTest as test } from "./postgres.ts";

const urlOf = (database: string): string =>
  `postgres://quern@127.0.0.1:${postgresPort}/${database}`;

/** The file of a machine, in a folder of its own. */
function fileOf(content: unknown): string {
  const file = join(temporaryFolder(), "cluster.json");
  writeFileSync(file, JSON.stringify(content));
  return file;
}

async function serve(file: string, ...argv: string[]): Promise<string> {
  const stop = new AbortController();
  let ended: Promise<Ran> | undefined;
  const announced = new Promise<string>((resolve, reject) => {
    const world = { signal: stop.signal, onOutput: resolve };
    const flags = ["--cluster", file, "--port", "0", "--no-page", "--workers", "0", "--json"];
    ended = quern(["serve", ...flags, ...argv], world);
    void ended.then(({ stderr }) => reject(new Error(stderr)));
  });
  onTestFinished(async () => (stop.abort(), void (await ended)));
  return (JSON.parse(await announced) as { url: string }).url;
}

test("from an empty database to two servers with members, metrics and a collection", async () => {
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
  expect(migrated.stdout).toMatch(/^the tables are of version \d+ now; they were of 0\n$/);
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
  for (const text of ["needle old", "needle new"]) await engine.index(shop("shop", `${text}\n`));
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
    stderr: "quern: another process is at it\n",
  });
});

/** The commands of a section of docs/growing.md, in order. */
function commandsOf(section: string): string[][] {
  const page = readFileSync("docs/growing.md", "utf8");
  const [, rest] = page.split(`### ${section}\n`);
  const [text] = rest!.split(/\n##/);
  const blocks = [...text!.matchAll(/```sh\n([^]*?)```/g)].flatMap(([, block]) =>
    block!.split("\n"),
  );
  return blocks.map((line) => line.trim().split(/ +/)).filter(([program]) => program === "quern");
}

const SECTION = ["cluster", "users", "keys", "serve", "cluster", "serve"];

test("the page's way from one machine to three", { timeout: 180_000 }, async () => {
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

test("the address of PostgreSQL may stand in the environment", async () => {
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
  'must be as "postgres://user@host:5432/name" without a password, or { "env": "NAME" }';

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
    "postgres.url.env: must be the name of an environment variable; a secret itself never stands in the file",
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
  [{ ...GOOD, nodes: 3 }, 'the file: unknown field "nodes"'],
  [{ ...GOOD, shardBites: 3 }, 'the file: unknown field "shardBites"; did you mean shardBytes?'],
])("a file that says %j is refused, and no secret repeated", async (content, words) => {
  const file = fileOf(content);
  const stderr = `quern: INVALID_REQUEST: ${file}: ${words}\n`;
  for (const command of [
    ["cluster", "status", file],
    ["serve", "--cluster", file],
  ])
    expect(await quern(command)).toMatchObject({ code: 2, stderr });
});

test("a file that is not there, and a server that is not there, are told", async () => {
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
