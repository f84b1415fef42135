/**
 * Repairs damaged objects of the object store from a data directory. Keys of objects are hashes of their content, so a
 * machine that has fetched or written a segment can store the same object again.
 */

import { QuernError } from "../../base/errors.ts";
import type { Environment } from "../../store/lmdb/environment.ts";
import { acquireLease } from "../../store/lmdb/lease.ts";
import type { Damage, DamagedObject } from "../catalog/damage.ts";
import { isIntact } from "../objects/bundle.ts";
import { sendSegment, sendSymbols } from "../objects/segment-object.ts";
import type { SegmentStore } from "../objects/segment-store.ts";
import { readContents, reading, type LocalSegment } from "./contents.ts";

/** How long a machine waits before it reads a damaged object again, which may have been restored from a backup. */
const AGAIN_MS = 60_000;
/** How long a machine waits for another process on this machine that is updating the same directory. */
const TURN_MS = 600_000;

export interface Mending {
  readonly environment: Environment;
  readonly store: SegmentStore;
  readonly damage: Pick<Damage, "all" | "mended">;
}

export class Mender {
  readonly #readAt = new Map<string, number>();

  /** Repairs the damaged objects whose content the directory has, and resolves to the other damaged objects. */
  async run(mending: Mending): Promise<DamagedObject[]> {
    const { environment, damage } = mending;
    const damaged = await damage.all();
    if (damaged.length === 0) return damaged;
    const lease = await acquireLease(environment, { timeoutMs: TURN_MS });
    try {
      const { segments } = reading(environment, readContents);
      return await this.repair(mending, damaged, segments);
    } finally {
      await lease.release();
    }
  }

  /**
   * Repairs those of the damaged objects whose content `segments` have, and resolves to the others. REQUIRES: nobody
   * deletes these segments during the call.
   */
  async repair(
    { environment, store, damage }: Mending,
    damaged: readonly DamagedObject[],
    segments: readonly LocalSegment[],
  ): Promise<DamagedObject[]> {
    const local = segments.filter((one) => !one.isPartial);
    const left: DamagedObject[] = [];
    for (const one of damaged) {
      const isWhole = await this.#mend({ environment, store, object: one.object, local });
      if (isWhole) await damage.mended(one.object);
      else left.push(one);
    }
    return left;
  }

  /** Resolves to true if the store now has the object. */
  async #mend({
    environment,
    store,
    object,
    local,
  }: {
    readonly environment: Environment;
    readonly store: SegmentStore;
    readonly object: string;
    readonly local: readonly LocalSegment[];
  }): Promise<boolean> {
    const segment = local.find((one) => one.object === object);
    const symbols = local.find((one) => one.symbolsObject === object);
    if (!segment && !symbols) return this.#isRestored(store, object);
    if (await isIntact(store, object)) return true; // another machine was quicker, or the bytes were changed on the way
    try {
      await store.delete(object); // a store does not replace an object that it has
      const { key } = segment
        ? await sendSegment(environment, segment.here, store)
        : await sendSymbols(
            environment,
            { segment: symbols!.here, edition: symbols!.symbols },
            store,
          );
      return key === object;
    } catch (error) {
      if (error instanceof QuernError && error.code === "INDEX_CORRUPT") return false; // this copy is damaged, too
      throw error;
    }
  }

  async #isRestored(store: SegmentStore, object: string): Promise<boolean> {
    const now = performance.now();
    if (now - (this.#readAt.get(object) ?? -Infinity) < AGAIN_MS) return false;
    this.#readAt.set(object, now);
    return isIntact(store, object);
  }
}
