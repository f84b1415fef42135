/**
 * Keeps all shards in one ordinary data directory, which an ordinary engine searches. The directory is updated after
 * each publication. If PostgreSQL or the object store cannot be reached, searches continue with the last state that
 * was fetched.
 */

import { join } from "node:path";
import type { OpenOptions } from "../engine.ts";
import type { LocalCore } from "../local-core.ts";
import { openCore } from "../opened-engine.ts";
import { openStore } from "../store/catalog/open.ts";
import type { Environment } from "../store/lmdb/environment.ts";
import { acquireLease } from "../store/lmdb/lease.ts";
import type { Catalog } from "./catalog/catalog.ts";
import { NewestHeads } from "./catalog/newest-heads.ts";
import { Follower } from "./follow/follower.ts";
import { bringTo } from "./local/bring.ts";
import { readContents, reading } from "./local/contents.ts";
import type { SegmentStore } from "./objects/segment-store.ts";

const POLL_MS = 1_000;
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
  readonly store: SegmentStore;
  readonly directory: string;
  readonly engine: OpenOptions;
  readonly onWarning: NonNullable<OpenOptions["onWarning"]>;
}

export class Replica {
  readonly core: LocalCore;
  readonly #options: ReplicaOptions;
  readonly #local: Local;
  readonly #heads: NewestHeads;
  /** Repeatedly updates the directory to the newest published state. */
  readonly follower: Follower<void>;

  private constructor(options: ReplicaOptions, local: Local) {
    this.#options = options;
    this.#heads = new NewestHeads(options.catalog);
    this.#local = local;
    this.core = local.core;
    const onTrouble = (error: unknown): void => {
      const message = `what the cluster has published cannot be fetched: ${String(error)}`;
      options.onWarning({ code: "INTERNAL", message });
    };
    this.follower = new Follower({ run: () => this.#bring(), everyMs: POLL_MS, onTrouble });
  }

  static async open(options: ReplicaOptions): Promise<Replica> {
    return new Replica(options, await openLocal(options));
  }

  async #bring(): Promise<void> {
    const { catalog, store } = this.#options;
    const heads = await this.#heads.read();
    const here = this.generations();
    if (heads.length === here.size && heads.every((one) => here.get(one.shard) === one.generation))
      return;
    const { environment } = this.#local;
    const lease = await acquireLease(environment, { timeoutMs: TURN_MS });
    try {
      const bringing = { environment, owner: lease.owner, catalog, store };
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
