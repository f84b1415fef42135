/**
 * Everything changes at once during searches. Each answer is that of a published state, never of an older one than the
 * answer before.
 */

import { isDeepStrictEqual } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished } from "vitest";
import { directorySegments, type ClusterEngine } from "../../src/cluster/index.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { comparable } from "./comparable.ts";
import { openFront, SECRET } from "./fronts.ts";
import { toSpare } from "./kills.ts";
import { newCluster, shop } from "./machines.ts";
import { nodeProgram, type NodeProcess } from "./node-processes.ts";
import { postgresPort, postgresTest as test } from "./postgres.ts";
import { isInTurn } from "../runs.ts";

/** How long compact() keeps what it merged away, for searches of the writer's own folder, which has none. */
const INTERNALS = { retireMs: 100 };

const FILES = 3;
const SHARD_BYTES = 150;
/** The pause between two calls of a lane. Without it the lanes would use a core for as long as nodes start and end. */
const PAUSE_MS = 20;
const RESIDENTS = ["a", "b", "c", "d"];
const source = (name: string, version: number) =>
  shop(name, ...Array.from({ length: FILES }, (_, i) => `word v${version} file${i} of ${name}\n`));

/** Versions by repository. */
type State = Readonly<Record<string, number>>;

/** Resolves to the versions that are found. Rejects if a repository appears twice, in part, or in several versions. */
async function stateOf(engine: ClusterEngine): Promise<State> {
  const { files, stats, isSearchExhaustive } = await engine.search({
    query: "word",
    matches: 1000,
  });
  const lines = new Map<string, string[]>();
  for (const { repository, chunks } of files)
    for (const { content } of chunks)
      lines.set(repository, [...(lines.get(repository) ?? []), content.trim()]);
  expect({ isSearchExhaustive, crashes: stats.crashes }).toEqual({
    isSearchExhaustive: true,
    crashes: 0,
  });
  const state: Record<string, number> = {};
  for (const [name, found] of lines) {
    const version = Number(/v(\d+)/.exec(found[0]!)?.[1]);
    const whole = Array.from({ length: FILES }, (_, i) => `word v${version} file${i} of ${name}`);
    expect(found.sort()).toEqual(whole);
    state[name] = version;
  }
  return state;
}

/** Keeps the published states of the residents, in order. The last one may not be published yet. */
class Published {
  readonly #states: State[] = [];

  /** Publishes a change. Resolves to the number of the new state. */
  async publish(change: State, run: () => Promise<unknown>): Promise<number> {
    this.#states.push({ ...this.#states.at(-1), ...change });
    await run();
    return this.#states.length - 1;
  }

  /** Returns the number of the state that was seen, which must be at least `from`. */
  find(seen: State, from: number): number {
    const state = Object.fromEntries(Object.entries(seen).filter(([name]) => name !== "guest"));
    const at = this.#states.findIndex((one, n) => n >= from && isDeepStrictEqual(one, state));
    expect(at, `${JSON.stringify(state)} after number ${from} of what was published`).not.toBe(-1);
    return at;
  }
}

describe.runIf(isInTurn(3))("everything at once", () => {
  test("answers are published states while machines index, remove, merge, restart, join and leave", async () => {
    const objects = temporaryFolder();
    const cluster = await newCluster({
      segments: directorySegments(objects),
      shardBytes: SHARD_BYTES,
      onWarning: () => undefined,
    });
    const { database } = cluster.pool.options;
    const newNode = await nodeProgram(
      {
        postgresPort: postgresPort!,
        database: database!,
        objects,
        secret: SECRET,
        replicas: 2,
        shardBytes: SHARD_BYTES,
      },
      () => temporaryFolder(),
    );
    const nodes = await Promise.all(["one", "two", "three"].map((name) => newNode(name)));
    onTestFinished(async () => void (await Promise.all(nodes.map((node) => node.end("SIGKILL")))));
    await Promise.all(nodes.map((node) => node.start()));
    const front = await openFront(cluster, {}, INTERNALS);
    const other = await openFront(cluster, {}, INTERNALS);
    // small at first, so that they share a shard
    for (const name of RESIDENTS) await front.index(shop(name, "x\n"));
    const published = new Published();
    for (const name of RESIDENTS)
      await published.publish({ [name]: 1 }, () => front.index(source(name, 1)));
    await other.refresh();
    const { rows } = await cluster.pool.query("select distinct unnest(slices) from quern_ready");
    expect(rows.length).toBeGreaterThan(1);

    const run = { isOver: false, searches: 0, seen: new Set<number>() };
    const failed: unknown[] = [];
    const lane = async (work: () => Promise<void>): Promise<void> => {
      for (; !run.isOver && failed.length === 0; await sleep(PAUSE_MS))
        await work().catch((error) => failed.push(error));
    };
    const writers = { isHeld: false, running: 0 };
    const writing = (work: () => Promise<void>): Promise<void> =>
      lane(async () => {
        if (writers.isHeld) return;
        writers.running++;
        await work().finally(() => writers.running--);
      });
    let version = 1;
    let seenByFront = RESIDENTS.length - 1;
    let seenByOther = RESIDENTS.length - 1;
    const changing = writing(async () => {
      const name = RESIDENTS[++version % RESIDENTS.length]!;
      const at = await published.publish({ [name]: version }, () =>
        front.index(source(name, version)),
      );
      seenByFront = Math.max(seenByFront, at); // a front sees everything that was published through it
    });
    let guests = 0;
    const coming = writing(async () => {
      await other.index(source("guest", ++guests));
      expect((await stateOf(other))["guest"]).toBe(guests);
      expect(await other.remove("guest")).toBe(true);
      expect(await stateOf(other)).not.toHaveProperty("guest");
    });
    let merges = 0;
    const merging = writing(async () => {
      await front.compact();
      merges++;
    });
    const searching = [
      lane(async () => {
        const from = seenByFront; // before the search
        seenByFront = Math.max(seenByFront, published.find(await stateOf(front), from));
        run.seen.add(seenByFront);
        run.searches++;
      }),
      lane(async () => {
        seenByOther = published.find(await stateOf(other), seenByOther);
        run.searches++;
      }),
    ];
    const mustGoOn = (): void => {
      if (failed.length > 0) throw failed[0];
    };
    /**
     * Ends a node once its slices are on other nodes, because a publication is visible once one replica of each slice
     * has it.
     */
    const spare = async (node: NodeProcess, end: () => Promise<void>): Promise<void> => {
      writers.isHeld = true;
      await expect.poll(() => writers.running).toBe(0);
      await expect.poll(() => toSpare(cluster.pool, nodes)).toContain(node);
      await Promise.all([front.refresh(), other.refresh()]);
      const ended = end();
      writers.isHeld = false;
      await ended;
      mustGoOn();
    };
    try {
      for (const node of nodes) {
        await spare(node, () => node.end("SIGTERM"));
        await node.start();
      }
      const joined = await newNode("four");
      nodes.push(joined);
      await joined.start();
      await spare(nodes[0]!, () => nodes[0]!.leave());
      await expect
        .poll(
          () => failed.length > 0 || (version > 4 && guests > 1 && merges > 0 && run.searches > 12),
        )
        .toBe(true);
    } finally {
      run.isOver = true;
      await Promise.all([changing, coming, merging, ...searching]);
    }
    mustGoOn();
    expect(run.seen.size).toBeGreaterThan(2);
    const whole = await cluster.open();
    await Promise.all([front.refresh(), whole.refresh()]);
    const request = { query: "word or file1", matches: 50, facets: 5 };
    expect(comparable(await front.search(request))).toEqual(
      comparable(await whole.search(request)),
    );
  });
});
