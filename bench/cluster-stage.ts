/**
 * Compares a cluster with a single engine, all on one machine. PostgreSQL and the nodes are separate processes, objects
 * are in a folder, and the front is this process. The texts are generated, and the same on every machine.
 */

import { mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { Catalog } from "../src/cluster/catalog/catalog.ts";
import {
  directorySegments,
  migrateCluster,
  openCluster,
  postgresCatalog,
  type ClusterEngine,
  type ClusterOptions,
  type SegmentStore,
} from "../src/cluster/index.ts";
import { preparePublication } from "../src/cluster/local/publish.ts";
import { documents, type Engine, type Source } from "../src/index.ts";
import { openStore } from "../src/store/catalog/open.ts";
import { nodeProgram, type NewNode, type NodeProcess } from "../test/cluster/node-processes.ts";
import { startPostgres } from "../test/cluster/postgres-process.ts";
import { nameOf, writeManyRepositories } from "../test/store/many-repositories.ts";
import type { Asked, ClusterFigures, ManyInCluster } from "./cluster-figures.ts";
import { memoryOf } from "./command.ts";
import { generatedFiles } from "./generated.ts";
import { sample, spreadOf, timed, type Patience } from "./statistics.ts";

const SECRET = "a secret of the benchmark";
const NODES = [1, 2, 4, 8];
const REPOSITORIES = 64;
const BYTES_EACH = 1_000_000;
const SHARD_BYTES = 2_000_000;
const PUBLISHED_BYTES = 10_000_000;
const PUBLICATIONS = 5;
/**
 * The number of searches before measuring. V8 compiles only code that runs often, and a host that has run for a minute
 * has answered more.
 */
const WARMING = 6_000;
const SEGMENTS = 100;
/** The times of a front over busy nodes vary more than those of an engine. */
const PATIENCE: Patience = { least: 31, most: 201, ms: 3_000 };
/** The clock of `/proc` counts in hundredths of a second. */
const TICK_MS = 10;

export interface ClusterRun {
  readonly folder: string;
  /** The number of repositories in a large catalog. */
  readonly many: number;
  readonly log: (text: string) => void;
}

interface Machines {
  readonly pool: pg.Pool;
  readonly objects: string;
  readonly newNode: NewNode;
  readonly open: (options: Partial<ClusterOptions>) => Promise<ClusterEngine>;
  readonly close: () => Promise<void>;
}

export async function measureCluster({ folder, many, log }: ClusterRun): Promise<ClusterFigures> {
  const loads: number[] = [];
  const watching = setInterval(() => loads.push(loadavg()[0]!), 1000);
  const server = await startPostgres();
  const admin = new pg.Pool({ ...placeOf(server.port), database: "postgres" });
  const machines = async (database: string): Promise<Machines> => {
    await admin.query(`create database ${database}`);
    return startMachines(folder, server.port, database);
  };
  try {
    log("searches, and publications");
    const searches = await measureSearches(await machines("searches"), log);
    log(`${SEGMENTS} segments`);
    const memory = await measureMemory(await machines("segments"));
    log(`${many} repositories`);
    const large = await measureMany(await machines("repositories"), folder, many);
    const load = loads.reduce((sum, one) => sum + one, 0) / loads.length;
    return { ...searches, memory, many: large, load };
  } finally {
    clearInterval(watching);
    await admin.end();
    await server.end();
  }
}

const placeOf = (port: number) => ({ host: "127.0.0.1", port, user: "quern" });

async function startMachines(folder: string, port: number, database: string): Promise<Machines> {
  const pool = new pg.Pool({ ...placeOf(port), database });
  pool.on("error", () => undefined); // idle connections break when the server ends
  await migrateCluster(pool);
  const place = join(folder, database);
  const objects = join(place, "objects");
  mkdirSync(objects, { recursive: true });
  const newFolder = (): string => mkdtempSync(join(place, "machine-"));
  const same = { secret: SECRET, replicas: 1, shardBytes: SHARD_BYTES };
  const newNode = await nodeProgram({ ...same, postgresPort: port, database, objects }, newFolder);
  const engines: ClusterEngine[] = [];
  return {
    pool,
    objects,
    newNode,
    async open(options) {
      const engine = await openCluster({
        catalog: postgresCatalog(pool),
        segments: directorySegments(objects),
        directory: newFolder(),
        workers: 0,
        lockTimeoutMs: 60_000,
        replicas: 1,
        shardBytes: SHARD_BYTES,
        ...options,
      });
      engines.push(engine);
      return engine;
    },
    async close() {
      for (const engine of engines) await engine.close();
      await pool.end();
    },
  };
}

// ── searches ──

const repositoryOf = (number: number, bytes = BYTES_EACH): Source =>
  documents({ name: `repository-${number}`, files: generatedFiles(number, bytes) });

type Searches = Omit<ClusterFigures, "memory" | "many" | "load">;

async function measureSearches(machines: Machines, log: (text: string) => void): Promise<Searches> {
  const { open, close, pool, newNode } = machines;
  try {
    const whole = await open({});
    for (let number = 0; number < REPOSITORIES; number++)
      await whole.index(repositoryOf(number), { symbols: "skip" });
    const held = await whole.repositories();
    const contentBytes = held.reduce((sum, one) => sum + one.contentBytes, 0);
    const files = held.reduce((sum, { revisions }) => sum + revisions[0]!.files, 0);
    log("one engine");
    const single = await ask(whole);
    const first = await newNode("fetching");
    const seconds = (await timed(() => first.start())) / 1000;
    const objects = (await headsOf(pool)).flatMap(({ segments }) => segments);
    const bytes = objects.reduce((sum, one) => sum + one.bytes, 0);
    const fetch = { bytes, seconds, processorMs: processorMsOf(first) };
    await forget(machines, [first]);
    const fronts: ClusterFigures["fronts"][number][] = [];
    for (const count of NODES) {
      log(`${count} nodes`);
      fronts.push(await measureFront(machines, count));
    }
    log("publications");
    return { files, contentBytes, single, fetch, fronts, publish: await measurePublish(machines) };
  } finally {
    await close();
  }
}

/** Ends nodes, and forgets that they existed. */
async function forget({ pool }: Machines, nodes: readonly NodeProcess[]): Promise<void> {
  await Promise.all(nodes.map((node) => node.end("SIGTERM")));
  for (const table of ["quern_ready", "quern_node"]) await pool.query(`delete from ${table}`);
}

/** Runs `work` with a front over this many nodes, once each slice is on one of them. */
async function withNodes<T>(
  machines: Machines,
  count: number,
  work: (front: ClusterEngine, nodes: readonly NodeProcess[]) => Promise<T>,
): Promise<T> {
  const names = Array.from({ length: count }, (_, i) => `node-${count}-${i}`);
  const nodes = await Promise.all(names.map((name) => machines.newNode(name)));
  for (const node of nodes) await node.start();
  const front = await machines.open({ secret: SECRET });
  try {
    while (!(await isSpread(machines.pool))) await sleep(500);
    await sleep(2_000); // a front notices this within a second
    return await work(front, nodes);
  } finally {
    await front.close();
    await forget(machines, nodes);
  }
}

/** Resolves to whether no slice is on two nodes any more, because the older nodes have handed theirs over. */
async function isSpread(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query<{ copies: string; slices: string }>(
    `select count(*) as copies, count(distinct (shard, slice)) as slices
     from quern_ready join quern_shard using (shard, generation), unnest(slices) as slice`,
  );
  return rows[0]!.slices !== "0" && rows[0]!.copies === rows[0]!.slices;
}

const measureFront = (machines: Machines, count: number) =>
  withNodes(machines, count, async (front, nodes) => {
    const asked = await ask(front, nodes);
    const slices = (await front.status()).nodes.reduce((sum, { ready }) => sum + ready, 0);
    return { nodes: count, slices, ...asked };
  });

/** Searches for a word of one repository, and for a word of every file. */
async function ask(
  engine: Engine,
  nodes: readonly NodeProcess[] = [],
): Promise<Asked & { readonly nodesProcessorMs: number }> {
  let searches = 0;
  const search = async (query: string, expected: number): Promise<number> => {
    const start = performance.now();
    const { stats } = await engine.search({ query, matches: 50 });
    const ms = performance.now() - start;
    searches++;
    if (stats.crashes + stats.shardsSkipped > 0 || stats.totalMatchCount < expected)
      throw new Error(`${query}: ${stats.totalMatchCount} matches, expected ${expected}`);
    return ms;
  };
  const rare = () => search(`needle_${REPOSITORIES >> 1}_`, 1);
  const often = () => search("repository", REPOSITORIES);
  for (let i = 0; i < WARMING; i++) await rare();
  searches = 0;
  const before = { own: process.cpuUsage(), nodes: nodes.map(processorMsOf) };
  const times = await sample(rare, PATIENCE);
  const { user, system } = process.cpuUsage(before.own);
  const spent = nodes.map((node, i) => processorMsOf(node) - before.nodes[i]!);
  const asked = searches;
  return {
    rare: spreadOf(times),
    frequent: spreadOf(await sample(often, PATIENCE)),
    processorMs: (user + system) / 1000 / asked,
    nodesProcessorMs: spent.reduce((sum, ms) => sum + ms, 0) / asked,
  };
}

// ── publications ──

const measurePublish = (machines: Machines): Promise<ClusterFigures["publish"]> =>
  withNodes(machines, 2, async (front) => {
    const [ready, index]: [number[], number[]] = [[], []];
    for (let i = 0; i <= PUBLICATIONS; i++) {
      const source = repositoryOf(1000 + i, PUBLISHED_BYTES);
      const ms = await timed(() => front.index(source, { symbols: "skip" }));
      const now = Date.now();
      if (i === 0) continue; // the first one creates the writer's folder
      index.push(ms);
      ready.push(now - (await lastCommit(machines.pool)));
    }
    return { bytes: PUBLISHED_BYTES, ready: spreadOf(ready), index: spreadOf(index) };
  });

/** Resolves to the time when the last publication began to commit. */
async function lastCommit(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ at: Date }>(
    "select max(created_at) as at from quern_manifest",
  );
  return rows[0]!.at.getTime();
}

// ── memory, and many repositories ──

async function measureMemory(machines: Machines): Promise<ClusterFigures["memory"]> {
  const { pool, open, newNode, close } = machines;
  const node = await newNode("node");
  try {
    const writer = await open({});
    for (let number = 0; number < SEGMENTS; number++)
      await writer.index(repositoryOf(number), { symbols: "skip" });
    await node.start();
    const front = await open({ secret: SECRET });
    await ask(front);
    const segments = (await headsOf(pool)).reduce((sum, one) => sum + one.segments.length, 0);
    return { segments, anonymousBytes: memoryOf(node.pid, "RssAnon") ?? 0 };
  } finally {
    await node.end("SIGKILL");
    await close();
  }
}

async function headsOf(pool: pg.Pool) {
  const catalog = new Catalog(pool, {});
  const generations = [...(await catalog.generations())];
  return Promise.all(generations.map(([shard, generation]) => catalog.head(shard, generation)));
}

async function measureMany(
  machines: Machines,
  folder: string,
  repositories: number,
): Promise<ManyInCluster> {
  const { open, newNode, close, pool, objects } = machines;
  const path = join(folder, "many");
  const node = await newNode("node");
  try {
    await writeManyRepositories(path, repositories);
    await publishAll({ pool, objects, path, repositories });
    const seconds = (await timed(() => node.start())) / 1000;
    const start = { seconds, processorMs: processorMsOf(node) };
    const front = await open({ secret: SECRET });
    const { stats } = await front.search({ query: `needle_${repositories}`, matches: 1 });
    if (stats.totalMatchCount !== 1) throw new Error("the last repository is not found");
    const times: number[] = [];
    for (let i = 0; i <= PUBLICATIONS; i++) {
      const files = [{ path: "a.c", content: `int more_${i};\n` }];
      const source = documents({ name: `more/${i}`, files });
      times.push(await timed(() => front.index(source, { symbols: "skip" })));
    }
    const publish = spreadOf(times.slice(1)); // the first one fetches the shard
    return { repositories, start, anonymousBytes: memoryOf(node.pid, "RssAnon") ?? 0, publish };
  } finally {
    await node.end("SIGKILL");
    await close();
  }
}

interface Publishing {
  readonly pool: pg.Pool;
  readonly objects: string;
  /** A data directory that no cluster has seen. */
  readonly path: string;
  readonly repositories: number;
}

/** Publishes a whole data directory as the first generation of shard 1. */
async function publishAll({ pool, objects, path, repositories }: Publishing): Promise<void> {
  await pool.query("insert into quern_shard (shard) values (1)");
  const names = Array.from({ length: repositories }, (_, i) => nameOf(i + 1));
  await pool.query(
    `insert into quern_repository (repository, name, shard) overriding system value
     select number, name, 1 from unnest($1::text[]) with ordinality as named (name, number)`,
    [names],
  );
  await pool.query(
    `alter table quern_repository alter column repository restart with ${repositories + 1}`,
  );
  const catalog = new Catalog(pool, {});
  const writer = "the benchmark";
  await catalog.lease(1, writer, 3_600_000);
  const environment = await openStore(path, { readOnly: false });
  const prepared = await preparePublication({
    environment,
    store: oncePerKey(directorySegments(objects)),
    catalog,
    head: await catalog.head(1, 0),
    without: [],
    writer,
    began: await catalog.clock(),
    shardBytes: 2 ** 33,
  });
  await catalog.publish(prepared!.publication);
  await environment.close();
  await catalog.release(1, writer);
}

/** Stores objects that several repositories share once, instead of waiting for the disk each time. */
function oncePerKey(store: SegmentStore): SegmentStore {
  const stored = new Set<string>();
  return {
    ...store,
    async put(key, body, bytes) {
      if (!stored.has(key)) await store.put(key, body, bytes);
      stored.add(key);
    },
  };
}

/** Returns the processor time of another process so far: of all its threads, in user and system mode. */
function processorMsOf({ pid }: NodeProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)!.split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
