/**
 * Runs sync as a part of a server: repeatedly, and immediately after webhooks, one run at a time. However often a
 * delivery is sent, its repository is queued only once. A repository is synced at most every ten seconds, and a whole
 * connection at most every minute.
 */

import { readFileSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
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
 * A running service of startSync().
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
    /** The id. */
    id: number;
    /** The name in the configuration. */
    name: string;
    /** One of github, gitlab, gitea, gerrit, bitbucket, azuredevops, git. */
    connectionType: string;
    /** The names of its repositories in the index. */
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

/** The shortest time between two runs for the same repository, and for the same connection. */
const REPOSITORY_PAUSE_MS = 10_000;
const CONNECTION_PAUSE_MS = 60_000;

/**
 * Syncs now, again after each interval of the configuration, and immediately after webhooks, until the service is
 * disposed of. Throws INVALID_REQUEST if the configuration is wrong.
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

/** The part that a run syncs: a repository of a connection, a connection, or everything. */
interface Wish {
  readonly connection?: string;
  readonly repository?: string;
}

interface Waiting {
  readonly key: string;
  readonly wish: Wish;
  /** The shortest time after the previous run for the same part. */
  readonly pauseMs: number;
  /** The earliest time at which the run may begin, in milliseconds since 1970. */
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
  /** The waiting requests, by what they sync. */
  readonly #waiting = new Map<string, Waiting>();
  /** When the last run for each part ended. */
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
    this.#waiting.set(key, { key, wish, pauseMs, at: Date.now() });
    this.#wake();
  }

  /**
   * Returns when a request may begin. A request waits until `pauseMs` after the previous run for the same part, even if
   * it arrived during that run.
   */
  #dueAt({ key, at, pauseMs }: Waiting): number {
    return Math.max(at, (this.#ended.get(key) ?? -Infinity) + pauseMs);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const [next] = [...this.#waiting.values()].sort((a, b) => this.#dueAt(a) - this.#dueAt(b));
      const pauseMs = next === undefined ? IDLE_MS : this.#dueAt(next) - Date.now();
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
    this.#waiting.set(key, { key, wish: {}, pauseMs: 0, at: Date.now() + pauseMs });
  }

  #remember(key: string): void {
    const now = Date.now();
    for (const [one, at] of this.#ended)
      if (at < now - CONNECTION_PAUSE_MS) this.#ended.delete(one);
    this.#ended.set(key, now);
  }

  /** Waits until something is requested, for at most this long. */
  async #rest(ms: number): Promise<void> {
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    const signal = AbortSignal.any([woken.signal, this.#stop.signal]);
    await sleep(ms, undefined, { signal }).catch(() => {});
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
   * Resolves to the name of a repository on its host. If the repository is unknown, resolves to undefined; the whole
   * connection is then synced.
   */
  async #pathOf(connection: string, id: string): Promise<string | undefined> {
    const { connections } = await readConnections(this.#folder);
    const own = connections.find(({ name }) => name === connection);
    if (own === undefined) return undefined;
    return (await readState(repositoryFolder(this.#folder, own.id, id)))?.path;
  }
}

/** The longest sleep. It ends early when something is requested. */
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
 * Returns the connections of the last run of any process, for HandlerOptions.connections. Each iteration over them
 * checks whether the file has changed.
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
