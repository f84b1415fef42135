/** Deletes unused rows and objects of a cluster. A lease lets only one process do so at a time. */

import { randomBytes } from "node:crypto";
import { JoinedSignal } from "../base/joined-signal.ts";
import { throwIfAborted } from "../base/abort.ts";
import type { Collection } from "./catalog/collection.ts";
import { keepRenewing, LEASE_MS } from "./follow/renewal.ts";
import type { SegmentStore } from "./objects/segment-store.ts";

/**
 * How long a generation is kept after it was replaced. A machine that is behind may still fetch it during this time.
 */
const ROWS_MS = 3_600_000;
/**
 * The age at which an unused object is deleted. No writer takes that long to publish an object that it has stored.
 */
const OBJECTS_MS = 24 * 3_600_000;
/**
 * The maximum number of objects that are deleted together. While they are being deleted, a publication that uses one
 * of them is rejected.
 */
const BATCH = 1000;

/**
 * Reports how much a collection has deleted.
 *
 * @example
 * declare const engine: ClusterEngine;
 * const report: CollectReport | undefined = await engine.collect();
 * console.log(report?.objects ?? "another machine is at it");
 */
export interface CollectReport {
  /** The number of deleted generations. Each was replaced more than an hour ago. */
  manifests: number;
  /** The number of deleted states of repositories. Only the deleted generations used them. */
  states: number;
  /** The number of segments that were deleted from the catalog. Only the deleted generations used them. */
  segments: number;
  /** The number of deleted objects. Each was older than a day, and no row referred to it. */
  objects: number;
}

export interface Collecting {
  readonly collection: Collection;
  readonly store: SegmentStore;
  readonly now: Date;
  readonly signal: AbortSignal;
}

/**
 * Deletes unused rows and objects, and resolves to a report. Resolves to undefined if another process is collecting.
 */
export async function collect(collecting: Collecting): Promise<CollectReport | undefined> {
  const { collection } = collecting;
  const holder = randomBytes(16).toString("hex");
  if (!(await collection.lease(holder, LEASE_MS))) return undefined;
  using renewal = keepRenewing(() => collection.lease(holder, LEASE_MS));
  using either = new JoinedSignal([collecting.signal, renewal.lost]);
  const { signal } = either;
  try {
    const rows = await collection.dropRows(new Date(collecting.now.getTime() - ROWS_MS));
    return { ...rows, objects: await deleteObjects({ ...collecting, signal }) };
  } finally {
    await collection.release(holder).catch(() => undefined); // the lease expires by itself
  }
}

async function deleteObjects({ collection, store, now, signal }: Collecting): Promise<number> {
  const named = await collection.named();
  const keys = new Set((await collection.doomed()).filter((key) => !named.has(key)));
  for await (const { key, at } of store.list("v1/", signal)) {
    throwIfAborted(signal);
    if (now.getTime() - at.getTime() > OBJECTS_MS && !named.has(key)) keys.add(key);
  }
  const all = [...keys];
  let deleted = 0;
  for (let i = 0; i < all.length; i += BATCH) {
    throwIfAborted(signal);
    deleted += await deleteBatch({ collection, store, now, signal }, all.slice(i, i + BATCH));
  }
  return deleted;
}

async function deleteBatch(
  { collection, store, signal }: Collecting,
  keys: readonly string[],
): Promise<number> {
  await collection.doom(keys);
  const named = await collection.named(); // a publication may have used an object before the object was doomed
  await collection.spare(keys.filter((key) => named.has(key)));
  const unnamed = keys.filter((key) => !named.has(key));
  for (const key of unnamed) await store.delete(key, signal);
  await collection.recordDeletion(unnamed);
  return unnamed.length;
}
