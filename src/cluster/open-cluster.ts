/**
 * Opens one index on several machines. Every machine may index. Either each machine holds the whole index and
 * searches it with an ordinary engine, or nodes hold slices of the index and a front combines their answers. In both
 * cases, the answers are the same as those of a single machine. PostgreSQL records what is published, and the object
 * store holds the published data.
 */

import { EngineFacade } from "../engine-facade.ts";
import type { OpenOptions } from "../engine.ts";
import type { Internals } from "../internals.ts";
import type { Following } from "./follow/following.ts";
import type { Catalog } from "./catalog/catalog.ts";
import type { Damage } from "./catalog/damage.ts";
import { Collection } from "./catalog/collection.ts";
import type { SegmentStore } from "./objects/segment-store.ts";
import { openLocal, Replica } from "./replica.ts";
import { ShardWriter } from "./shard-writer.ts";
import { statusRows } from "./status.ts";
import type { Nodes } from "./catalog/nodes.ts";
import { Front } from "./front/front.ts";
import { ClusterNode, type NodeSettings } from "./node/node.ts";
import type { Alarm } from "./follow/alarm.ts";
import { listenTo, type Change } from "./postgres/changes.ts";
import { checkOptions, type ClusterCatalog, type ClusterOptions } from "./cluster-options.ts";
import type { ClusterEngine } from "./cluster-engine.ts";
import { clusterCalls, clusterCore, type Parts } from "./cluster-core.ts";

/**
 * Opens the index of a cluster on this machine, and fetches the published data that the machine is to hold. Rejects
 * with INDEX_NOT_FOUND if `migrateCluster()` has not created the tables. Several processes on one machine may share a
 * directory.
 *
 * @example
 * declare const pool: PostgresPool; // new Pool({ connectionString: process.env.DATABASE_URL })
 * const engine = await openCluster({
 *   catalog: postgresCatalog(pool),
 *   segments: postgresSegments(pool),
 *   directory: "./cluster",
 * });
 */
export function openCluster(options: ClusterOptions): Promise<ClusterEngine> {
  return openClusterWith(options, {});
}

/** Opens the index as openCluster() does, and passes `internals` to the engines that write. */
export async function openClusterWith(
  options: ClusterOptions,
  internals: Partial<Internals>,
): Promise<ClusterEngine> {
  const {
    catalog: given,
    store,
    directory,
    node,
    secret,
    replicas,
    shardBytes,
    engine,
  } = checkOptions(options);
  const collection = new Collection(given.pool, given.place);
  const rows = { ...statusRows(given, replicas), collection };
  const { catalog, nodes, damage } = rows;
  const { onWarning = () => {}, lockTimeoutMs = 0 } = engine;
  const settings = node && { ...node, replicas };
  const opening = { catalog, nodes, damage, store, directory, engine, onWarning };
  const answers =
    secret === undefined
      ? await openWhole(opening)
      : await openOverNodes({ ...opening, secret, settings });
  const writing = { ...engine, warmUp: false }; // no search runs in a writer's directory
  const written = new Map<number, number>();
  const onPublished = (shard: number, generation: number): void =>
    void written.set(shard, Math.max(generation, written.get(shard) ?? 0));
  const forWriter = {
    catalog,
    damage,
    store,
    directory,
    lockTimeoutMs,
    shardBytes,
    engine: writing,
    internals,
    onPublished,
  };
  const newWriter = (): ShardWriter => new ShardWriter(forWriter);
  const jobAlarms = new Set<Alarm>();
  const onChange = (change?: Change): void => {
    if (change !== "jobs") answers.following.wake();
    if (change === "jobs" || change === undefined) for (const one of jobAlarms) one.ring();
  };
  const parts: Parts = {
    ...rows,
    ...answers,
    written,
    jobAlarms,
    stopListening: listen(given, onWarning, onChange),
    store,
    newWriter,
    directory,
    shardBytes,
    onWarning,
  };
  const core = clusterCore(parts);
  return extended(new EngineFacade(core), clusterCalls(parts, core));
}

/** Adds methods and getters to an engine. */
const extended = <T extends object>(engine: EngineFacade, more: T): EngineFacade & T =>
  Object.defineProperties(engine, Object.getOwnPropertyDescriptors(more)) as EngineFacade & T;

function listen(
  { pool, place: { schema }, listen: isWanted }: ClusterCatalog,
  onWarning: Opening["onWarning"],
  onChange: (change?: Change) => void,
): () => Promise<void> {
  if (!isWanted) return () => Promise.resolve();
  const onDeaf = (why: string): void => {
    const message = `this machine cannot LISTEN, so it looks for changes each second: ${why}; set listen: false to accept this`;
    onWarning({ code: "INTERNAL", message });
  };
  return listenTo(pool, { schema, onChange, onDeaf });
}

interface Opening {
  readonly catalog: Catalog;
  readonly nodes: Nodes;
  readonly damage: Damage;
  readonly store: SegmentStore;
  readonly directory: string;
  readonly engine: OpenOptions;
  readonly onWarning: NonNullable<OpenOptions["onWarning"]>;
}

type Answers = Pick<Parts, "answers" | "following" | "node">;

async function openWhole(opening: Opening): Promise<Answers> {
  const replica = await Replica.open(opening);
  try {
    await replica.begin();
  } catch (error) {
    await replica.close();
    throw error;
  }
  replica.follower.start();
  const following: Following = {
    wake: replica.follower.wake,
    refresh: () => replica.follower.run(),
    generations: () => replica.generations(),
    close: () => replica.close(),
  };
  return { answers: replica.core, following, node: undefined };
}

async function openOverNodes(
  opening: Opening & {
    readonly secret: string;
    readonly settings: NodeSettings | undefined;
  },
): Promise<Answers> {
  const { catalog, nodes, damage, store, secret, settings, onWarning } = opening;
  const local = await openLocal(opening);
  const parts = { catalog, nodes, damage, core: local.core, onWarning };
  const closing: (() => Promise<void>)[] = [() => local.close()];
  const close = async (): Promise<void> => {
    for (const each of closing) await each();
  };
  try {
    const { environment } = local;
    const node = settings && (await ClusterNode.open({ ...parts, environment, store, settings }));
    if (node) closing.unshift(() => node.close());
    const front = await Front.open({ ...parts, secret, holdsSlices: node !== undefined });
    closing.unshift(() => front.close());
    const following: Following = {
      wake() {
        node?.follower.wake();
        front.follower.wake();
      },
      refresh: (signal) => front.refresh(signal),
      generations: () => front.generations(),
      close,
    };
    return { answers: front.core, following, node };
  } catch (error) {
    await close();
    throw error;
  }
}
