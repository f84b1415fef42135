/** Deletes unused rows and objects of a cluster. A lease lets only one process do so at a time. */

import { randomBytes } from "node:crypto";
import { throwIfAborted } from "../base/abort.ts";
import type { Collection } from "./catalog/collection.ts";
import { keepRenewing, LEASE_MS } from "./follow/renewal.ts";
import type { SegmentStore } from "./objects/segment-store.ts";

/** The age at which a replaced generation is deleted. A machine that is behind may still fetch a younger one. */
const ROWS_MS = 3_600_000;
/** The age at which an unused object is deleted. No writer takes that long to publish what it has stored. */
const OBJECTS_MS = 24 * 3_600_000;
/** How many objects are deleted together. Publications that need one of them are rejected until this is done. */
const BATCH = 1000;

/**
 * What a collection has deleted.
 *
 * @example
 * declare const engine: ClusterEngine;
 * const report: CollectReport | undefined = await engine.collect();
 * console.log(report?.objects ?? "another machine is at it");
 */
export interface CollectReport {
  /** Generations that were replaced more than an hour ago. */
  manifests: number;
  /** States of repositories that only those generations had. */
  states: number;
  /** Segments that only those generations had. */
  segments: number;
  /** Objects older than a day that nothing refers to. */
  objects: number;
}

export interface Collecting {
  readonly collection: Collection;
  readonly store: SegmentStore;
  readonly now: Date;
  readonly signal: AbortSignal;
}

/** Deletes what is unused, and resolves to a report, or to undefined if another process collects. */
export async function collect(collecting: Collecting): Promise<CollectReport | undefined> {
  const { collection } = collecting;
  const holder = randomBytes(16).toString("hex");
  if (!(await collection.lease(holder, LEASE_MS))) return undefined;
  using renewal = keepRenewing(() => collection.lease(holder, LEASE_MS));
  const signal = AbortSignal.any([collecting.signal, renewal.lost]);
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
  const named = await collection.named(); // a publication may have named an object before the object was doomed
  await collection.spare(keys.filter((key) => named.has(key)));
  const unnamed = keys.filter((key) => !named.has(key));
  for (const key of unnamed) await store.delete(key, signal);
  await collection.bury(unnamed);
  return unnamed.length;
}
