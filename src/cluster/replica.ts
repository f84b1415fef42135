/**
 * Keeps all shards in one ordinary data directory, which an ordinary engine searches. The directory is updated after
 * each publication. If PostgreSQL or the object store cannot be reached, searches continue with the last state that
 * was fetched.
 */

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { OpenOptions } from "../engine.ts";
import type { LocalCore } from "../local-core.ts";
import { openCore } from "../opened-engine.ts";
import { openStore } from "../store/catalog/open.ts";
import type { Environment } from "../store/lmdb/environment.ts";
import { acquireLease } from "../store/lmdb/lease.ts";
import type { Catalog } from "./catalog/catalog.ts";
import type { Damage } from "./catalog/damage.ts";
import { NewestHeads } from "./catalog/newest-heads.ts";
import { Follower } from "./follow/follower.ts";
import { bringTo } from "./local/bring.ts";
import { readContents, reading } from "./local/contents.ts";
import { ObjectsDamaged } from "./local/damaged-objects.ts";
import { Mender } from "./local/mender.ts";
import type { SegmentStore } from "./objects/segment-store.ts";

const POLL_MS = 1_000;
/** How often a machine tries to fetch damaged objects at its start. */
const MOST_TRIES = 10;
/** How long a process waits for another process on this machine that is updating the same directory. */
const TURN_MS = 600_000;

/** The directory that a machine fills, and the core of an engine that searches it. */
export interface Local {
  readonly environment: Environment;
  readonly core: LocalCore;
  close(): Promise<void>;
}

export async function openLocal({
  directory,
  engine: options,
}: Pick<ReplicaOptions, "directory" | "engine">): Promise<Local> {
  const path = join(directory, "replica");
  const environment = await openStore(path, { readOnly: false });
  try {
    const core = await openCore(path, { ...options, readOnly: true });
    const close = async (): Promise<void> => {
      await core.close();
      await environment.close();
    };
    return { environment, core, close };
  } catch (error) {
    await environment.close();
    throw error;
  }
}

export interface ReplicaOptions {
  readonly catalog: Catalog;
  readonly damage: Damage;
  readonly store: SegmentStore;
  readonly directory: string;
  readonly engine: OpenOptions;
  readonly onWarning: NonNullable<OpenOptions["onWarning"]>;
}

export class Replica {
  readonly core: LocalCore;
  readonly #options: ReplicaOptions;
  readonly #local: Local;
  readonly #mender = new Mender();
  readonly #heads: NewestHeads;
  /** Repeatedly updates the directory to the newest published state. */
  readonly follower: Follower<void>;

  private constructor(options: ReplicaOptions, local: Local) {
    this.#options = options;
    this.#heads = new NewestHeads(options.catalog);
    this.#local = local;
    this.core = local.core;
    const onTrouble = (error: unknown): void => {
      const message = `the published state of the cluster cannot be fetched: ${String(error)}`;
      options.onWarning({ code: "INTERNAL", message });
    };
    this.follower = new Follower({ run: () => this.#bring(), everyMs: POLL_MS, onTrouble });
  }

  static async open(options: ReplicaOptions): Promise<Replica> {
    return new Replica(options, await openLocal(options));
  }

  /** Fetches the published state. Waits a little for machines that can repair damaged objects. */
  async begin(): Promise<void> {
    for (let tries = 1; ; tries++)
      try {
        return await this.follower.run();
      } catch (error) {
        if (!(error instanceof ObjectsDamaged) || tries === MOST_TRIES) throw error;
        await sleep(POLL_MS);
      }
  }

  async #bring(): Promise<void> {
    const { catalog, store, damage } = this.#options;
    const { environment } = this.#local;
    await this.#mender.run({ environment, store, damage });
    const heads = await this.#heads.read();
    const here = this.generations();
    if (heads.length === here.size && heads.every((one) => here.get(one.shard) === one.generation))
      return;
    const lease = await acquireLease(environment, { timeoutMs: TURN_MS });
    try {
      const bringing = { environment, owner: lease.owner, catalog, store, damage };
      await bringTo(bringing, heads);
    } finally {
      await lease.release();
    }
  }

  /** Returns, for each shard, the generation that searches see. */
  generations(): Map<number, number> {
    const { shards } = reading(this.#local.environment, readContents);
    return new Map(shards.map(([shard, generation]) => [shard, generation]));
  }

  async close(): Promise<void> {
    await this.follower.close();
    await this.#local.close();
  }
}
