/** What can be asked of a cluster, and done to it, without a copy of its index. */

import { Catalog } from "./catalog/catalog.ts";
import { Collection } from "./catalog/collection.ts";
import { Jobs, type QueueState } from "./catalog/jobs.ts";
import type { ClusterCatalog } from "./cluster.ts";
import { collect, type CollectReport } from "./collect.ts";
import type { SegmentStore } from "./objects/segment-store.ts";

export interface PublishedStatus {
  readonly shards: readonly { readonly shard: number; readonly published: number }[];
  readonly queue: QueueState;
}

export async function publishedStatus({ pool, place }: ClusterCatalog): Promise<PublishedStatus> {
  const generations = await new Catalog(pool, place).generations();
  const shards = Array.from(generations, ([shard, published]) => ({ shard, published }));
  return { shards, queue: await new Jobs(pool, place).state() };
}

export const collectCluster = (
  { pool, place }: ClusterCatalog,
  store: SegmentStore,
  signal: AbortSignal,
): Promise<CollectReport | undefined> =>
  collect({ collection: new Collection(pool, place), store, now: new Date(), signal });
