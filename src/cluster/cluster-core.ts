/**
 * Implements the core of the engine that one machine of a cluster opens. It passes each call to the part that searches
 * or to the part that writes. A third part follows the publications of all machines, so that searches see them.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { throwIfAborted } from "../base/abort.ts";
import { fetchHandler } from "../base/direct-handlers.ts";
import { closedError, invalid, QuernError } from "../base/errors.ts";
import { checkKeys } from "../base/known-keys.ts";
import type { EngineCore, ReadingCore } from "../engine-core.ts";
import type { Engine } from "../engine.ts";
import { formatGenerations, type Generations } from "../search/caller/generations.ts";
import type { ClusterEngine } from "./cluster-engine.ts";
import { clusterMetrics } from "./cluster-metrics.ts";
import { ClusterWrites, type WriteParts } from "./cluster-writes.ts";
import type { Following } from "./follow/following.ts";
import type { ClusterNode } from "./node/node.ts";
import { readStatus, type StatusRows } from "./status.ts";

/** How long a request waits for the generations that its header asks for. */
const REACH_MS = 10_000;
const REACH_STEP_MS = 20;

export interface Parts extends StatusRows, WriteParts {
  /** Either the core of an engine that holds the whole index, or a front that asks nodes. */
  readonly answers: ReadingCore;
  readonly following: Following;
  /** The node, or undefined if the machine is not a node. */
  readonly node: ClusterNode | undefined;
  /** For each shard, the newest generation that this process has published. */
  readonly written: Generations;
  readonly stopListening: () => Promise<void>;
  readonly directory: string;
}

export interface ClusterCore extends EngineCore {
  readonly writes: ClusterWrites;
}

export function clusterCore(parts: Parts): ClusterCore {
  const { answers, following } = parts;
  const writes = new ClusterWrites(parts);
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await parts.stopListening();
    await writes.close();
    await following.close();
  };
  const core: ClusterCore = {
    ...answers,
    path: parts.directory,
    writes,
    index: (source, options) => writes.index(source, options),
    remove: (repository) => writes.remove(repository),
    compact: (options) => writes.compact(options),
    backup: () =>
      Promise.reject(
        invalid(
          "backup: not supported by a cluster: back up its PostgreSQL database, and then its objects",
        ),
      ),
    workspace: () =>
      Promise.reject(
        invalid(
          "workspace: a cluster cannot follow a folder of one machine: give its files to index()",
        ),
      ),
    upToDate: () => core,
    without: undefined,
    reach: (generations, signal) => reach(following, generations, signal),
    metrics: async () =>
      clusterMetrics(closed ? undefined : await statusOf(parts).catch(() => undefined)),
    isClosed: () => closed !== undefined,
    close: () => (closed ??= close()),
  };
  return core;
}

/** Resolves when searches see the wanted generations. Rejects with OVERLOADED if that takes too long. */
async function reach(
  following: Following,
  wanted: Generations,
  signal: AbortSignal,
): Promise<void> {
  const isThere = (): boolean => {
    const here = following.generations();
    return [...wanted].every(([shard, generation]) => (here.get(shard) ?? 0) >= generation);
  };
  if (isThere()) return;
  const stop = new AbortController();
  following.refresh(stop.signal).catch(() => undefined); // ignores errors, because PostgreSQL may be back in time
  try {
    for (const start = performance.now(); !isThere(); await sleep(REACH_STEP_MS)) {
      throwIfAborted(signal);
      if (performance.now() - start > REACH_MS)
        throw new QuernError(
          "OVERLOADED",
          `${formatGenerations(wanted)} was not reached within ${REACH_MS / 1000} s: try again, or omit X-Quern-Generation`,
        );
    }
  } finally {
    stop.abort();
  }
}

/** The members that only the engine of a cluster has. */
type ClusterCalls = Omit<ClusterEngine, keyof Engine>;

export function clusterCalls(parts: Parts, core: ClusterCore): ClusterCalls {
  const open = (): ClusterWrites => {
    if (core.isClosed()) throw closedError();
    return core.writes;
  };
  return {
    async enqueue(repository, payload, options = {}) {
      const writes = open();
      checkKeys({ call: "enqueue", what: "option" }, options, { runAfter: true });
      return writes.enqueue(repository, payload, options);
    },
    async work(source, options) {
      const writes = open();
      checkKeys({ call: "work", what: "option" }, options, { signal: true, concurrency: true });
      return writes.work(source, options);
    },
    async collect(options = {}) {
      const writes = open();
      checkKeys({ call: "collect", what: "option" }, options, { signal: true, now: true });
      return writes.collect(options);
    },
    async refresh() {
      open();
      await parts.following.refresh();
    },
    internal: fetchHandler((call) => {
      const { node } = parts;
      if (!node) return Promise.reject(invalid("internal: this machine is not a node"));
      return core.isClosed() ? Promise.reject(closedError()) : node.answer(call);
    }),
    get written() {
      return formatGenerations(parts.written);
    },
    async drain() {
      open();
      const { node } = parts;
      if (!node) throw invalid("drain: this machine is not a node");
      await node.drain();
    },
    async status() {
      open();
      return statusOf(parts);
    },
  };
}

async function statusOf(parts: Parts): ReturnType<ClusterEngine["status"]> {
  const { queue, nodes, shards, damaged } = await readStatus(parts);
  const here = parts.following.generations();
  return {
    queue,
    nodes: [...nodes],
    damaged: damaged.map(({ shard, object, repositories }) => ({
      shard,
      object,
      repositories: [...repositories],
    })),
    shards: shards.map((one) => ({ ...one, here: here.get(one.shard) ?? 0 })),
  };
}
