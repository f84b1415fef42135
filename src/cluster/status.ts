/** Reads the state of a cluster from PostgreSQL, for people and metrics. */

import { Catalog } from "./catalog/catalog.ts";
import { Damage, type DamagedRepositories } from "./catalog/damage.ts";
import { Collection } from "./catalog/collection.ts";
import type { ShardHead } from "./catalog/head.ts";
import { Jobs, type QueueState } from "./catalog/jobs.ts";
import { NewestHeads } from "./catalog/newest-heads.ts";
import { Nodes, placedOwners, type Membership } from "./catalog/nodes.ts";
import type { ClusterCatalog } from "./cluster-options.ts";
import { collect, type CollectReport } from "./collect.ts";
import type { SegmentStore } from "./objects/segment-store.ts";

export interface NodeStatus {
  readonly name: string;
  readonly isLive: boolean;
  readonly isPlaced: boolean;
  /** The number of slices that the node has ready at the newest generation of their shard. */
  readonly ready: number;
  /**
   * The size in bytes of the slices that the node owns but does not have ready at the newest generation of their
   * shard.
   */
  readonly missingBytes: number;
}

export interface PublishedStatus {
  readonly shards: readonly { readonly shard: number; readonly published: number }[];
  readonly nodes: readonly NodeStatus[];
  readonly queue: QueueState;
  readonly damaged: readonly DamagedRepositories[];
}

export interface StatusRows {
  readonly heads: NewestHeads;
  readonly nodes: Nodes;
  readonly jobs: Jobs;
  readonly damage: Damage;
  readonly replicas: number;
}

export async function readStatus(rows: StatusRows): Promise<PublishedStatus> {
  const heads = await rows.heads.read();
  const members = await rows.nodes.all();
  return {
    shards: heads.map(({ shard, generation }) => ({ shard, published: generation })),
    nodes: nodesOf(heads, members, rows.replicas),
    queue: await rows.jobs.state(),
    damaged: await rows.damage.withRepositories(),
  };
}

export function statusRows(
  { pool, place }: ClusterCatalog,
  replicas: number,
): StatusRows & { readonly catalog: Catalog } {
  const catalog = new Catalog(pool, place);
  return {
    catalog,
    heads: new NewestHeads(catalog),
    nodes: new Nodes(pool, place),
    jobs: new Jobs(pool, place),
    damage: new Damage(pool, place),
    replicas,
  };
}

function nodesOf(
  heads: readonly ShardHead[],
  members: Membership,
  replicas: number,
): readonly NodeStatus[] {
  const newest = new Map(heads.map(({ shard, generation }) => [shard, generation]));
  const slices = heads.flatMap(slicesOf).map((one) => ({
    ...one,
    owners: placedOwners(members.nodes, [one.shard, one.slice], replicas),
  }));
  return members.nodes.map(({ name, isLive, isPlaced }) => {
    const own = members.ready.filter(
      (one) => one.node === name && newest.get(one.shard) === one.generation,
    );
    const ready = new Map(own.map((one) => [one.shard, new Set(one.slices)]));
    const missing = slices.filter(
      ({ shard, slice, owners }) => owners.includes(name) && ready.get(shard)?.has(slice) !== true,
    );
    return {
      name,
      isLive,
      isPlaced,
      ready: own.reduce((sum, one) => sum + one.slices.length, 0),
      missingBytes: missing.reduce((sum, { bytes }) => sum + bytes, 0),
    };
  });
}

/** Returns the slices of a shard that contain segments, with their sizes. */
function slicesOf({ shard, segments, slices }: ShardHead) {
  const bytes = new Map<number, number>();
  for (const one of segments) {
    const slice = one.segment % slices;
    bytes.set(slice, (bytes.get(slice) ?? 0) + one.bytes);
  }
  return Array.from(bytes, ([slice, sum]) => ({ shard, slice, bytes: sum }));
}

export const collectCluster = (
  { pool, place }: ClusterCatalog,
  store: SegmentStore,
  signal: AbortSignal,
): Promise<CollectReport | undefined> =>
  collect({ collection: new Collection(pool, place), store, now: new Date(), signal });
