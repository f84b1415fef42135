/**
 * Runs sync inside a server, one run at a time. The service syncs all connections at a regular interval, and a
 * repository or a connection when a webhook reports a change. A repository that is already waiting is not queued
 * again, however many deliveries arrive. Deliveries cause at most one sync of a repository every ten seconds, and at
 * most one sync of a whole connection every minute.
 */

import { readFileSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { JoinedSignal } from "../base/joined-signal.ts";
import { checkKeys, type KeysOf } from "../base/known-keys.ts";
import type { Engine } from "../engine.ts";
import { milliseconds, type SyncConfig } from "./config/config.ts";
import { checkConfig } from "./config/read-config.ts";
import { readSecret } from "./config/secrets.ts";
import {
  type ConnectionStates,
  connectionsFile,
  parseConnections,
  readConnections,
  readState,
  repositoryFolder,
} from "./records.ts";
import type { SyncReport } from "./report.ts";
import { syncConnections, syncFolder, type SyncOptions } from "./sync.ts";
import { type Delivery, isGenuine, subjectOf, type WebhookSecret } from "./webhooks.ts";

/**
 * Options of startSync().
 *
 * @example
 * const options: SyncServiceOptions = {
 *   onReport: ({ connections }) => console.log(connections.length),
 *   onError: ({ message }) => console.error(message),
 * };
 */
export interface SyncServiceOptions extends Pick<SyncOptions, "folder" | "env" | "onProgress"> {
  /** Called with the report of each run. */
  onReport?: (report: SyncReport) => void;
  /** Called with the error that ended a run. The next run still takes place. */
  onError?: (error: Error) => void;
}

const OPTIONS: KeysOf<SyncServiceOptions> = {
  folder: true,
  env: true,
  onProgress: true,
  onReport: true,
  onError: true,
};

/**
 * A running sync service, which startSync() returns.
 *
 * @example
 * const config = await readSyncConfig("./quern.json");
 * const service: SyncService = startSync(engine, config);
 * const { connections, webhook } = service;
 * const handler = createHandler(engine, { anonymous: "public", connections, webhook });
 */
export interface SyncService extends AsyncDisposable {
  /** The value for HandlerOptions.connections. */
  readonly connections: Iterable<{
    /** The id of the connection. */
    id: number;
    /** The name of the connection in the configuration. */
    name: string;
    /** The type of the code host, which is github, gitlab, gitea, gerrit, bitbucket, azuredevops or git. */
    connectionType: string;
    /** The names that the connection's repositories have in the index. */
    repositories: Iterable<string>;
  }>;
  /** The value for HandlerOptions.webhook. */
  readonly webhook: (
    connection: string,
    delivery: {
      /** The headers of the request. */
      headers: Headers;
      /** The body of the request, unchanged. */
      body: Uint8Array;
    },
  ) => Promise<"queued" | "ignored" | "refused">;
}

/** The minimum time between two runs that webhooks start for the same repository, or for the same connection. */
const REPOSITORY_PAUSE_MS = 10_000;
const CONNECTION_PAUSE_MS = 60_000;

/**
 * Starts a service that syncs immediately, then at the interval of the configuration, and whenever a webhook reports
 * a change. The service runs until it is disposed of. Throws INVALID_REQUEST if the configuration is wrong.
 *
 * @example
 * const config = await readSyncConfig("./quern.json");
 * await using service = startSync(engine, config, { onError: console.error });
 */
export function startSync(
  engine: Engine,
  config: SyncConfig,
  options: SyncServiceOptions = {},
): SyncService {
  checkKeys({ call: "startSync", what: "option" }, options, OPTIONS);
  return new Service(engine, checkConfig(config, "startSync"), options);
}

/** What a run syncs. This is a repository of a connection, a whole connection, or everything. */
interface Wish {
  readonly connection?: string;
  readonly repository?: string;
}

interface Waiting {
  readonly key: string;
  readonly wish: Wish;
  /** The minimum time between the previous run for the same repository or connection and this run. */
  readonly pauseMs: number;
  /** The earliest performance.now() at which the run may begin. */
  readonly at: number;
}

class Service implements SyncService {
  readonly connections;
  readonly webhook = (connection: string, delivery: Delivery) =>
    this.#deliver(connection, delivery);
  readonly #engine: Engine;
  readonly #config: SyncConfig;
  readonly #options: SyncServiceOptions;
  readonly #folder: string;
  readonly #secrets: ReadonlyMap<string, WebhookSecret>;
  readonly #stop = new AbortController();
  /** The waiting requests. The key identifies the repository or the connection. */
  readonly #waiting = new Map<string, Waiting>();
  /** When the last run for each repository or connection ended. */
  readonly #ended = new Map<string, number>();
  #wake: () => void = () => {};
  readonly #over: Promise<void>;

  constructor(engine: Engine, config: SyncConfig, options: SyncServiceOptions) {
    this.#engine = engine;
    this.#config = config;
    this.#options = options;
    this.#folder = options.folder ?? syncFolder(engine.path);
    this.#secrets = webhookSecrets(config, options.env ?? process.env);
    this.connections = storedConnections(this.#folder);
    this.#want({}, 0);
    this.#over = this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#wake();
    await this.#over;
  }

  #want(wish: Wish, pauseMs: number): void {
    const key = JSON.stringify([wish.connection, wish.repository]);
    if (this.#waiting.has(key)) return;
    this.#waiting.set(key, { key, wish, pauseMs, at: performance.now() });
    this.#wake();
  }

  /**
   * Returns the earliest time at which the run for a request may begin. This is at least `pauseMs` after the previous
   * run for the same key has ended, even if the request arrived during that run.
   */
  #dueAt({ key, at, pauseMs }: Waiting): number {
    return Math.max(at, (this.#ended.get(key) ?? -Infinity) + pauseMs);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const [next] = [...this.#waiting.values()].sort((a, b) => this.#dueAt(a) - this.#dueAt(b));
      const pauseMs = next === undefined ? IDLE_MS : this.#dueAt(next) - performance.now();
      if (next === undefined || pauseMs > 0) await this.#rest(Math.min(pauseMs, IDLE_MS));
      else {
        this.#waiting.delete(next.key);
        await this.#sync(next.wish);
        this.#remember(next.key);
      }
    }
  }

  async #sync(wish: Wish): Promise<void> {
    const { connection, repository } = wish;
    const { onReport, onError, ...options } = this.#options;
    const only = { connection: connection!, ...(repository !== undefined && { repository }) };
    try {
      const report = await syncConnections(this.#engine, this.#config, {
        ...options,
        folder: this.#folder,
        signal: this.#stop.signal,
        ...(connection !== undefined && { only }),
      });
      onReport?.(report);
    } catch (error) {
      if (!this.#stop.signal.aborted) onError?.(error as Error);
    }
    const every = this.#config.sync?.every;
    if (connection === undefined && every !== undefined) this.#again(milliseconds(every)!);
  }

  #again(pauseMs: number): void {
    const key = JSON.stringify([undefined, undefined]);
    this.#waiting.set(key, { key, wish: {}, pauseMs: 0, at: performance.now() + pauseMs });
  }

  #remember(key: string): void {
    const now = performance.now();
    for (const [one, at] of this.#ended)
      if (at < now - CONNECTION_PAUSE_MS) this.#ended.delete(one);
    this.#ended.set(key, now);
  }

  /** Waits until a request arrives or the service stops, but at most `ms` milliseconds. */
  async #rest(ms: number): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    using either = new JoinedSignal([woken.signal, this.#stop.signal]);
    await sleep(ms, undefined, { signal: either.signal }).catch(() => {});
  }

  async #deliver(name: string, delivery: Delivery): Promise<"queued" | "ignored" | "refused"> {
    const secret = this.#secrets.get(name);
    if (secret === undefined) return "refused";
    const { type } = this.#config.connections[name]!;
    if (!(await isGenuine(type, delivery, secret))) return "refused";
    const subject = await subjectOf(type, delivery);
    if (subject.kind === "nothing") return "ignored";
    const path = subject.kind === "repository" ? await this.#pathOf(name, subject.id) : undefined;
    if (path === undefined) this.#want({ connection: name }, CONNECTION_PAUSE_MS);
    else this.#want({ connection: name, repository: path }, REPOSITORY_PAUSE_MS);
    return "queued";
  }

  /**
   * Resolves to the path of a repository on its host, such as `acme/shop`. Resolves to undefined if the repository is
   * unknown. The caller then syncs the whole connection.
   */
  async #pathOf(connection: string, id: string): Promise<string | undefined> {
    const { connections } = await readConnections(this.#folder);
    const own = connections.find(({ name }) => name === connection);
    if (own === undefined) return undefined;
    return (await readState(repositoryFolder(this.#folder, own.id, id)))?.path;
  }
}

/** The maximum time that the service sleeps. A request wakes the service earlier. */
const IDLE_MS = 3_600_000;

function webhookSecrets(
  { connections }: SyncConfig,
  env: NonNullable<SyncOptions["env"]>,
): ReadonlyMap<string, WebhookSecret> {
  const secrets = new Map<string, WebhookSecret>();
  for (const [name, { webhook }] of Object.entries(connections)) {
    if (webhook === undefined) continue;
    const { username = "quern" } = webhook;
    const secret = readSecret(webhook.secret, env, `the webhook of the connection ${name}`);
    secrets.set(name, { secret, username });
  }
  return secrets;
}

/**
 * Returns the recorded connections, for HandlerOptions.connections. Any process may have recorded them, so each
 * iteration checks whether the file has changed.
 */
export function storedConnections(folder: string): SyncService["connections"] {
  const file = connectionsFile(folder);
  let read: { readonly at: number; readonly states: ConnectionStates | undefined } | undefined;
  return {
    *[Symbol.iterator]() {
      const at = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
      if (at === undefined) return;
      if (read?.at !== at) read = { at, states: parseConnections(readFileSync(file, "utf8")) };
      for (const { id, name, type, repositories } of read.states?.connections ?? [])
        yield {
          id,
          name,
          connectionType: type === "folder" ? "git" : type,
          repositories: Object.freeze(repositories),
        };
    },
  };
}
