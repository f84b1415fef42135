/**
 * Reports changes immediately, with PostgreSQL's LISTEN. A missed notification does no harm, because machines also
 * check for changes every second. All engines that use the same pool share one of its connections for LISTEN.
 *
 * Through PgBouncer in transaction mode, LISTEN succeeds, but no notification ever arrives. So a listener sends
 * itself a notification over another connection. If this notification does not arrive within PROBE_MS, the listener
 * warns and releases its connection.
 */

import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { PostgresClient, PostgresPool } from "./pool.ts";

/**
 * The kind of a change. "index" stands for the published generations, and "jobs" for the queue of jobs. "nodes"
 * stands for the list of nodes and the slices that they have ready.
 */
export type Change = (typeof CHANGES)[number];
const CHANGES = ["index", "nodes", "jobs"] as const;

/** The channel that all clusters of a database share. The payload names the cluster and the change. */
export const CHANNEL = "quern";

export const payloadOf = (change: Change, schema: string | undefined): string =>
  `${change} ${schema ?? ""}`;

const PROBE_MS = 2_000;
const RETRY_MS = 1_000;

/** The events of a connection of the package `pg`. */
interface Emitter {
  on(event: "notification", listener: (message: { payload?: string }) => void): unknown;
  on(event: "error" | "end", listener: () => void): unknown;
}

const isEmitter = (client: object): client is Emitter =>
  "on" in client && typeof client.on === "function";

export interface Subscriber {
  /** The schema of the tables. */
  readonly schema: string | undefined;
  /** Called after each change. The argument is absent if some changes may have been missed. */
  readonly onChange: (change?: Change) => void;
  /** Called once if notifications will never arrive. */
  readonly onDeaf: (why: string) => void;
}

/** Starts listening. Returns a function that stops listening. */
export function listenTo(pool: PostgresPool, subscriber: Subscriber): () => Promise<void> {
  const listener = listeners.get(pool) ?? new Listener(pool);
  listeners.set(pool, listener);
  listener.add(subscriber);
  return async () => {
    if (!listener.remove(subscriber)) return;
    listeners.delete(pool);
    await listener.close();
  };
}

const listeners = new WeakMap<PostgresPool, Listener>();

class Listener {
  readonly #pool: PostgresPool;
  readonly #subscribers = new Set<Subscriber>();
  readonly #closing = new AbortController();
  readonly #loop: Promise<void>;
  #hasConnection = false;
  /** The reason why notifications never arrive. Undefined as long as they may arrive. */
  #deaf: string | undefined;

  constructor(pool: PostgresPool) {
    this.#pool = pool;
    this.#loop = this.#listen();
  }

  add(subscriber: Subscriber): void {
    this.#subscribers.add(subscriber);
    if (this.#deaf !== undefined) subscriber.onDeaf(this.#deaf);
  }

  /** Removes a subscriber. Returns true if the subscriber was the last one. */
  remove(subscriber: Subscriber): boolean {
    return this.#subscribers.delete(subscriber) && this.#subscribers.size === 0;
  }

  /**
   * Stops listening. Resolves when the connection is released. A connection that is still being opened is released
   * later.
   */
  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#hasConnection) await this.#loop;
  }

  async #listen(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted && this.#deaf === undefined) {
      await this.#listenOnce().catch(() => undefined); // if PostgreSQL is down, the next check for changes reports it
      await sleep(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** Listens on one connection. Resolves when the connection is lost, or if notifications do not arrive on it. */
  async #listenOnce(): Promise<void> {
    const pool = this.#pool as PostgresPool & { options?: { max?: number } };
    if (pool.options?.max === 1) return this.#giveUp("the pool has only one connection");
    const client = await pool.connect();
    this.#hasConnection = true;
    try {
      if (isEmitter(client)) await this.#hear(client);
      else this.#giveUp("the pool's connections do not report notifications");
    } finally {
      client.release(true);
      this.#hasConnection = false;
    }
  }

  async #hear(client: PostgresClient & Emitter): Promise<void> {
    const probe = randomBytes(16).toString("hex");
    let hearProbe = (): void => undefined;
    const heard = new Promise<true>((resolve) => (hearProbe = () => resolve(true)));
    const lost = new Promise<void>((resolve) => {
      client.on("error", resolve);
      client.on("end", resolve);
      this.#closing.signal.addEventListener("abort", () => resolve(), { once: true });
      if (this.#closing.signal.aborted) resolve();
    });
    client.on("notification", ({ payload = "" }) => {
      if (payload === probe) hearProbe();
      else this.#tell(payload);
    });
    await Promise.race([lost, client.query(`listen ${CHANNEL}`)]);
    const sent = this.#pool.query("select pg_notify($1, $2)", [CHANNEL, probe]);
    sent.catch(() => undefined); // if the query fails, no notification arrives
    const late = sleep(PROBE_MS, false, { signal: this.#closing.signal, ref: false });
    const isHeard = await Promise.race([heard, lost, late.catch(() => undefined)]);
    if (isHeard === false && (await sent.catch(() => undefined)))
      return this.#giveUp("notifications of one connection do not reach another");
    if (isHeard !== true) return;
    for (const { onChange } of this.#subscribers) onChange(); // changes before this moment may have been missed
    await lost;
  }

  #tell(payload: string): void {
    for (const { schema, onChange } of this.#subscribers) {
      const change = CHANGES.find((one) => payloadOf(one, schema) === payload);
      if (change) onChange(change);
    }
  }

  #giveUp(why: string): void {
    this.#deaf = why;
    for (const { onDeaf } of this.#subscribers) onDeaf(why);
  }
}
