/** Kills nodes of a cluster again and again while it is searched, and compares each answer with one engine's. */

import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import {
  directorySegments,
  migrateCluster,
  openCluster,
  postgresCatalog,
  type ClusterEngine,
  type ClusterOptions,
} from "../../src/cluster/index.ts";
import { documents, type Source } from "../../src/index.ts";
import { nodeProgram, type NodeProcess } from "./node-processes.ts";
import { questionsFor, type Question, type Verdict } from "./questions.ts";

const SECRET = "a secret of the machines";
/** The bytes of text in a slice. What filled() indexes makes about ten slices. */
const SHARD_BYTES = 8000;
const SEARCHES_AT_ONCE = 2;
const KILL_EVERY_MS = 1_000;

export interface Killing {
  readonly pool: pg.Pool;
  readonly postgresPort: number;
  /** Returns a new folder at each call. */
  readonly folder: () => string;
  readonly nodes: number;
  readonly replicas: number;
  /** The pause between two searches of a lane, in milliseconds. Default 0, so that the lanes use all the time there is. */
  readonly pauseMs?: number;
  /** Killing ends when this returns true. */
  readonly isOver: (counts: KillCounts) => boolean;
  readonly onSecond?: (counts: KillCounts) => void;
  /** Called when a node was killed, and awaited before it starts again. */
  readonly whileDown?: (down: Down) => Promise<void>;
  /** How far the clock of the first node is ahead, in milliseconds. */
  readonly clockMs?: number;
}

export interface Down {
  /** How many nodes were killed before. */
  readonly turn: number;
  /** The data directory of the node. */
  readonly directory: string;
  /** The folder of the objects. */
  readonly objects: string;
  readonly front: ClusterEngine;
}

export interface KillCounts {
  kills: number;
  /** The number of kills that had to wait because no other node had a slice ready. */
  waits: number;
  /** How often each verdict was given, by question. */
  readonly verdicts: Record<string, Record<Verdict, number>>;
  readonly wrong: string[];
}

/** Resolves to the counts when the killing is over and everything is closed. */
export async function killUnderLoad(killing: Killing): Promise<KillCounts> {
  const { pool, folder, replicas, postgresPort } = killing;
  await migrateCluster(pool);
  const objects = folder();
  const database = pool.options.database!;
  const same = {
    objects,
    database,
    postgresPort,
    replicas,
    secret: SECRET,
    shardBytes: SHARD_BYTES,
  };
  const directories = new Map<string, string>();
  const directoryOf = (name: string): string => {
    const directory = folder();
    directories.set(name, directory);
    return directory;
  };
  const newNode = await nodeProgram(same, directoryOf);
  const names = Array.from({ length: killing.nodes }, (_, i) => `node-${i}`);
  const nodes = await Promise.all(
    names.map((name, i) => newNode(name, { clockMs: i === 0 ? (killing.clockMs ?? 0) : 0 })),
  );
  const engines: ClusterEngine[] = [];
  const open = async (options: Partial<ClusterOptions>): Promise<ClusterEngine> => {
    const engine = await openCluster({
      catalog: postgresCatalog(pool),
      segments: directorySegments(objects),
      directory: folder(),
      workers: 0,
      shardBytes: SHARD_BYTES,
      replicas,
      onWarning: () => undefined,
      ...options,
    });
    engines.push(engine);
    return engine;
  };
  try {
    await Promise.all(nodes.map((node) => node.start()));
    const front = await open({ secret: SECRET });
    for (const source of sources()) await front.index(source);
    const whole = await open({});
    const questions = await questionsFor(whole);
    return await underLoad(killing, { nodes, front, questions, objects, directories });
  } finally {
    for (const engine of engines) await engine.close();
    await Promise.all(nodes.map((node) => node.end("SIGKILL")));
  }
}

/** Yields six repositories three times each, so that they are in several segments. */
function* sources(): Generator<Source> {
  for (let run = 1; run <= 3; run++)
    for (let n = 0; n < 6; n++) {
      const files = Array.from({ length: 4 * run }, (_, i) => ({
        path: `src/file${i}.txt`,
        content: `needle ${i} of repository ${n}\n${`word${i} and so on\n`.repeat(20)}needle\n`,
      }));
      yield documents({ name: `shop${n}`, files });
    }
}

interface Load {
  readonly nodes: readonly NodeProcess[];
  readonly front: ClusterEngine;
  readonly questions: readonly Question[];
  readonly objects: string;
  /** The data directories of the nodes, by name. */
  readonly directories: ReadonlyMap<string, string>;
}

async function underLoad(killing: Killing, load: Load): Promise<KillCounts> {
  const counts: KillCounts = { kills: 0, waits: 0, verdicts: {}, wrong: [] };
  const { questions, front } = load;
  const { pauseMs = 0 } = killing;
  for (const { name, ask } of questions) {
    counts.verdicts[name] = { identical: 0, partial: 0, refused: 0, wrong: 0 };
    const verdict = await ask(front);
    if (verdict !== "identical") throw new Error(`${name} is ${verdict} before anything is killed`);
  }
  const state = { isOver: false };
  const lanes = Array.from({ length: SEARCHES_AT_ONCE }, async (_, lane) => {
    for (let turn = lane; !state.isOver; turn++) {
      if (pauseMs > 0) await sleep(pauseMs);
      const { name, ask } = questions[turn % questions.length]!;
      const verdict = await ask(front).catch((error: unknown) => {
        counts.wrong.push(`${name}: ${String(error)}`);
        return "wrong" as const;
      });
      counts.verdicts[name]![verdict]++;
      if (verdict === "wrong") counts.wrong.push(name);
    }
  });
  try {
    await killEach(killing, load, counts);
  } finally {
    state.isOver = true;
    await Promise.all(lanes);
  }
  return counts;
}

/**
 * Kills a node each second and starts it again at once. It takes the next node in turn whose end leaves each slice a
 * replica.
 */
async function killEach(
  killing: Killing,
  { nodes, front, objects, directories }: Load,
  counts: KillCounts,
): Promise<void> {
  const starting = new Set<Promise<void>>();
  let failure: unknown;
  for (let turn = 0; !killing.isOver(counts); turn++) {
    await sleep(KILL_EVERY_MS);
    killing.onSecond?.(counts);
    if (failure !== undefined) throw failure;
    const order = nodes.map((_, i) => nodes[(turn + i) % nodes.length]!);
    const victim = await firstToSpare(killing, order);
    if (!victim) {
      counts.waits++;
      continue;
    }
    await victim.end("SIGKILL");
    const directory = directories.get(victim.name)!;
    await killing.whileDown?.({ turn: counts.kills, directory, objects, front });
    counts.kills++;
    const started = victim.start().catch((error: unknown) => void (failure = error));
    starting.add(started);
    void started.then(() => starting.delete(started));
  }
  await Promise.all(starting);
}

/**
 * Resolves to the first node that may be killed: with one replica any that runs, otherwise one whose slices are ready
 * on other running nodes.
 */
const firstToSpare = async (
  { pool, replicas }: Killing,
  order: readonly NodeProcess[],
): Promise<NodeProcess | undefined> =>
  replicas === 1 ? order.find(({ isReady }) => isReady) : (await toSpare(pool, order))[0];

/** Resolves to the nodes whose slices, in their newest generations, are ready on other running nodes. */
export async function toSpare(
  pool: pg.Pool,
  nodes: readonly NodeProcess[],
): Promise<NodeProcess[]> {
  const running = nodes.filter(({ isReady }) => isReady);
  const { rows } = await pool.query<{ node: string; slice: string }>(
    `select node, concat(shard, ' ', unnest(slices)) as slice
     from quern_ready join quern_shard using (shard, generation)`,
  );
  const alive = new Set(running.map(({ name }) => name));
  const isSpare = ({ name }: NodeProcess): boolean =>
    rows
      .filter(({ node }) => node === name)
      .every(({ slice }) =>
        rows.some((one) => one.slice === slice && one.node !== name && alive.has(one.node)),
      );
  return running.filter(isSpare);
}

/** Returns the sums over all questions. */
export function totals({ verdicts }: KillCounts): Record<Verdict, number> {
  const sum = { identical: 0, partial: 0, refused: 0, wrong: 0 };
  for (const one of Object.values(verdicts))
    for (const [verdict, count] of Object.entries(one)) sum[verdict as Verdict] += count;
  return sum;
}
