/**
 * Writes to shards, one at a time. A write takes the shard's lease, and updates a local directory to the shard's
 * newest generation. Then it lets an ordinary engine change the directory, stores the new objects, and publishes
 * them.
 *
 * At first, the directory has only the tables of the shard's segments. A segment is completed before it is merged
 * (complete.ts). The steps of an index run (content, symbols, merges) are published separately, because the symbols
 * of a large repository take minutes. If a writer stops, other machines never see its unpublished changes. The next
 * index run in the shard finds the missing symbols.
 */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { JoinedSignal } from "../base/joined-signal.ts";
import { throwIfAborted } from "../base/abort.ts";
import { QuernError } from "../base/errors.ts";
import type { EngineCore } from "../engine-core.ts";
import type { OpenOptions } from "../engine.ts";
import type { Internals } from "../internals.ts";
import { openCore } from "../opened-engine.ts";
import type { Complete, StepOptions } from "../ingest/writes.ts";
import { openStore } from "../store/catalog/open.ts";
import { nextManifest, putManifest, readManifest } from "../store/catalog/manifest.ts";
import type { Environment } from "../store/lmdb/environment.ts";
import { acquireLease, checkLease } from "../store/lmdb/lease.ts";
import type { Catalog } from "./catalog/catalog.ts";
import type { Damage, DamagedObject } from "./catalog/damage.ts";
import { emptyHead, headAfter, type ShardHead } from "./catalog/head.ts";
import type { EndedJob } from "./catalog/jobs.ts";
import { keepRenewing, LEASE_MS } from "./follow/renewal.ts";
import { bringTo } from "./local/bring.ts";
import { completeSegments } from "./local/complete.ts";
import { slicesWithout } from "./local/contents.ts";
import { ObjectsDamaged } from "./local/damaged-objects.ts";
import { Mender } from "./local/mender.ts";
import { preparePublication, recordPublication } from "./local/publish.ts";
import type { SegmentStore } from "./objects/segment-store.ts";

const RETRY_MS = 50;

export interface ShardWriterOptions {
  readonly catalog: Catalog;
  readonly damage: Damage;
  readonly store: SegmentStore;
  readonly directory: string;
  readonly lockTimeoutMs: number;
  readonly shardBytes: number;
  readonly engine: OpenOptions;
  readonly internals: Partial<Internals>;
  readonly onPublished: (shard: number, generation: number) => void;
}

/** A shard's directory while it is open. */
interface Opened {
  readonly shard: number;
  readonly environment: Environment;
  readonly core: EngineCore;
  /**
   * The state of the shard to which the directory was last updated, or which was last published from the directory.
   */
  head: ShardHead;
  /** The damaged objects of the shard. The directory lacks their segments. */
  damaged: readonly DamagedObject[];
}

export interface WriteOptions {
  readonly signal?: AbortSignal | undefined;
  /** The job that ends with the last publication of the write. */
  readonly job?: EndedJob | undefined;
  /** How many milliseconds to wait for another writer. Default: the `lockTimeoutMs` of ShardWriterOptions. */
  readonly lockTimeoutMs?: number;
}

/** The argument that write() passes to `work`. It may be used only while the shard's lease is held. */
export interface ShardSession {
  readonly core: EngineCore;
  /**
   * Options for engine calls that consist of several steps. With these options, each step is published before the
   * next step begins.
   */
  readonly steps: StepOptions;
  /** The damaged objects of the shard. The directory lacks their segments, so the shard must not be compacted. */
  readonly damaged: readonly DamagedObject[];
  /**
   * If the repository is new, gets its id from the catalog, and makes the engine use this id. REQUIRES: the next
   * source to be indexed has the name `repository`.
   */
  readonly expect: (repository: string) => Promise<void>;
}

export class ShardWriter {
  readonly #options: ShardWriterOptions;
  readonly #closing = new AbortController();
  readonly #mender = new Mender();
  #opened: Opened | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ShardWriterOptions) {
    this.#options = options;
  }

  /**
   * Runs `work` on the newest generation of a shard, and publishes the changes. Calls of write() run one after
   * another.
   */
  write<T>(
    shard: number,
    asked: WriteOptions,
    work: (session: ShardSession) => Promise<T>,
  ): Promise<T> {
    const stop = new JoinedSignal([asked.signal, this.#closing.signal]);
    const result = this.#last
      .then(() => this.#write(shard, { ...asked, signal: stop.signal }, work))
      .finally(() => stop[Symbol.dispose]());
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #write<T>(
    shard: number,
    { signal, job, lockTimeoutMs }: WriteOptions & { readonly signal: AbortSignal },
    work: (session: ShardSession) => Promise<T>,
  ): Promise<T> {
    const { catalog } = this.#options;
    const writer = randomBytes(16).toString("hex");
    const generation = await this.#lease(shard, { writer, signal, lockTimeoutMs });
    // a writer that has lost its lease fails when it publishes
    using _renewal = keepRenewing(async () => !!(await catalog.lease(shard, writer, LEASE_MS)));
    try {
      const opened = await this.#open(shard);
      const head = await catalog.head(shard, generation, opened.head);
      opened.damaged = await this.#bring(opened, head);
      opened.head = head;
      const publish = (ended?: EndedJob) => this.#publish(opened, writer, ended);
      const done = await work(this.#session(opened, () => publish()));
      await publish(job);
      return done;
    } finally {
      await catalog.release(shard, writer).catch(() => undefined); // the lease expires by itself
    }
  }

  /** Publishes what has changed in the directory since the last publication, if anything. */
  async #publish(opened: Opened, writer: string, job?: EndedJob): Promise<void> {
    const { catalog, store, damage, shardBytes, onPublished } = this.#options;
    const { environment, head, damaged } = opened;
    const without = damaged.map(({ object }) => object);
    const began = await catalog.clock();
    const publishing = {
      environment,
      store,
      catalog,
      head,
      without,
      writer,
      began,
      job,
      shardBytes,
    };
    const prepared = await preparePublication(publishing);
    if (!prepared) return;
    // if an index run makes an equal segment again, its object has the key of the damaged one, which is still there
    const { segments } = prepared.contents;
    opened.damaged = await this.#mender.repair({ environment, store, damage }, damaged, segments);
    await catalog.publish(prepared.publication);
    opened.head = headAfter(prepared.publication);
    onPublished(opened.shard, opened.head.generation);
    await recordPublication(environment, prepared);
  }

  /** Takes the lease of a shard. Waits if another writer holds the lease. Resolves to the shard's generation. */
  async #lease(
    shard: number,
    {
      writer,
      signal,
      lockTimeoutMs = this.#options.lockTimeoutMs,
    }: {
      readonly writer: string;
      readonly signal: AbortSignal;
      readonly lockTimeoutMs: number | undefined;
    },
  ): Promise<number> {
    const { catalog } = this.#options;
    for (const start = performance.now(); ;) {
      throwIfAborted(signal);
      const generation = await catalog.lease(shard, writer, LEASE_MS);
      if (generation !== undefined) return generation;
      if (performance.now() - start >= lockTimeoutMs)
        throw new QuernError(
          "INDEX_LOCKED",
          `another process is writing to shard ${shard}; try again when it has finished, or wait for it (option lockTimeoutMs)`,
        );
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Opens a shard's directory. Keeps it open, because the next write is usually to the same shard. */
  async #open(shard: number): Promise<Opened> {
    if (this.#opened?.shard === shard) return this.#opened;
    await this.#closeShard();
    const path = join(this.#options.directory, `shard-${shard}`);
    const environment = await openStore(path, { readOnly: false });
    try {
      const { store, damage, internals } = this.#options;
      const complete: Complete = ({ segments, ...by }) =>
        completeSegments({ environment, store, damage, ...by }, segments);
      const core = await openCore(path, this.#options.engine, { ...internals, complete });
      const head = emptyHead(shard);
      return (this.#opened = { shard, environment, core, head, damaged: [] });
    } catch (error) {
      await environment.close();
      throw error;
    }
  }

  /** Updates a directory. Resolves to the damaged objects of the shard, whose segments the directory now lacks. */
  async #bring({ environment }: Opened, head: ShardHead): Promise<readonly DamagedObject[]> {
    const { catalog, store, damage } = this.#options;
    const all = await this.#mender.run({ environment, store, damage });
    let damaged = all.filter(({ shard }) => shard === head.shard);
    const lease = await acquireLease(environment, { timeoutMs: 0 });
    try {
      for (;;) {
        const without = damaged.map(({ object }) => object);
        const own = slicesWithout(without, head.slices);
        const bringing = { environment, owner: lease.owner, catalog, store, damage };
        const wanted = own ? { ...head, own } : head;
        const met = await bringTo({ ...bringing, tablesOnly: true }, [wanted]).then(
          () => undefined,
          (error: unknown) => {
            if (error instanceof ObjectsDamaged) return error.objects;
            throw error;
          },
        );
        if (!met) return damaged;
        damaged = [...damaged, ...met];
      }
    } finally {
      await lease.release();
    }
  }

  #session({ environment, core, damaged }: Opened, publish: () => Promise<void>): ShardSession {
    const { catalog } = this.#options;
    return {
      core,
      damaged,
      // a merge would publish repositories without their files in the segments that the directory lacks
      steps: { betweenSteps: publish, merges: damaged.length === 0 },
      expect: async (repository) => {
        if (await core.repositories.find(repository, undefined)) return;
        const id = await catalog.newId(repository);
        const lease = await acquireLease(environment, { timeoutMs: 0 });
        await environment.write((writer) => {
          checkLease(writer, lease.owner);
          putManifest(writer, nextManifest(readManifest(writer), { nextRepository: id }));
        });
        await lease.release();
      },
    };
  }

  async #closeShard(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    await opened?.core.close();
    await opened?.environment.close();
  }

  /** Aborts the running write, and closes the directory. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#opened?.core.close();
    await this.#last;
    await this.#closeShard();
  }
}
