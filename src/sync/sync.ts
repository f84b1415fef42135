/**
 * Runs sync once. A run lists the repositories of each connection, updates their clones, indexes the repositories
 * that have changed, and removes those that are gone.
 *
 *     connections ── list (all at once) ──► names are claimed, in the order of the configuration
 *                                             │ at most `parallel` repositories at once
 *                                             ▼
 *                                       clone.ts: ask, fetch ──► index-queue.ts: the engine
 *                                             │
 *                                             ▼
 *                                       records.ts: what was indexed, so that a run that was
 *                                       stopped continues where it was
 *
 * A failure of one repository, or of one part of a list, does not affect other repositories or parts. If a part of a
 * connection's list is missing, no repository of the connection counts as gone. A failure that concerns the whole
 * index, such as a full disk, ends the run.
 */

import { join } from "node:path";
import { JoinedSignal } from "../base/joined-signal.ts";
import { throwIfAborted } from "../base/abort.ts";
import { QuernError } from "../base/errors.ts";
import { checkKeys, type KeysOf } from "../base/known-keys.ts";
import { Semaphore } from "../base/semaphore.ts";
import type { Engine } from "../engine.ts";
import { formatValue, problemOfName } from "../ingest/sources/metadata.ts";
import { DEFAULTS, milliseconds, type SyncConfig } from "./config/config.ts";
import { type Connection, openConnection } from "./connection.ts";
import { lockFolder } from "./folder-lock.ts";
import type { Found } from "./hosts/found.ts";
import { IndexQueue } from "./index-queue.ts";
import { checkConfig } from "./config/read-config.ts";
import { forget, type Gone } from "./gone.ts";
import {
  type ConnectionStates,
  readConnections,
  type RepositoryState,
  statesOf,
  writeConnections,
} from "./records.ts";
import { type RepositoryRun, syncRepository } from "./repository-run.ts";
import type { SyncedConnection, SyncedRepository, SyncProgress, SyncReport } from "./report.ts";
import type { Variables } from "./config/secrets.ts";
import { isWanted, nameOf } from "./wanted.ts";

/**
 * Options of syncConnections().
 *
 * @example
 * const options: SyncOptions = {
 *   signal: AbortSignal.timeout(3_600_000),
 *   onProgress: (progress) => console.error(progress.kind),
 * };
 * await syncConnections(engine, config, options);
 */
export interface SyncOptions {
  /** The folder in which sync keeps its clones and records. Default: .sync in the data directory. */
  folder?: string;
  /** The environment variables that contain the secrets. Default: process.env. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Limits the run to one connection or repository. Default: everything. */
  only?: {
    /** The name of a connection. */
    connection: string;
    /**
     * One repository of the connection, by its name on the host, such as 'acme/shop'. Default: all repositories. Has
     * no effect on connections of the types git and folder.
     */
    repository?: string;
  };
  /**
   * Aborts the run, which then rejects with ABORTED. Repositories that are already indexed stay in the index, and the
   * next run continues with the others.
   */
  signal?: AbortSignal;
  /** Called with progress updates. */
  onProgress?: (progress: SyncProgress) => void;
}

/** What only the engine of a cluster has. */
interface MayBeDamaged {
  status(): Promise<{ readonly damaged: readonly { readonly repositories: readonly string[] }[] }>;
}

const OPTIONS: KeysOf<SyncOptions> = {
  folder: true,
  env: true,
  only: true,
  signal: true,
  onProgress: true,
};

/** Returns the folder in which sync keeps its clones and records by default. */
export const syncFolder = (dataDirectory: string): string => join(dataDirectory, ".sync");

/**
 * Updates the index from code hosts. Lists their repositories, clones or fetches each repository, indexes the
 * changes, and removes repositories that are gone. Resolves to a report, which includes the failures of single
 * repositories. Rejects with INVALID_REQUEST if the configuration is wrong, and with the index's own error if the
 * index fails.
 *
 * @example
 * const config = await readSyncConfig("./quern.json");
 * const { connections } = await syncConnections(engine, config);
 * for (const { name, repositories } of connections) console.log(name, repositories.length);
 */
export async function syncConnections(
  engine: Engine,
  config: SyncConfig,
  options: SyncOptions = {},
): Promise<SyncReport> {
  checkKeys({ call: "syncConnections", what: "option" }, options, OPTIONS);
  const checked = checkConfig(config, "syncConnections");
  const { signal = new AbortController().signal, folder = syncFolder(engine.path) } = options;
  throwIfAborted(signal);
  const startedAt = performance.now();
  const release = lockFolder(folder);
  const failure = new AbortController();
  using either = new JoinedSignal([signal, failure.signal]);
  try {
    const run = new SyncRun(engine, checked, { ...options, folder, signal: either.signal });
    const connections = await run.all(failure);
    return { connections, durationMs: performance.now() - startedAt };
  } finally {
    failure.abort();
    release();
  }
}

type Settled = SyncOptions & { readonly folder: string; readonly signal: AbortSignal };

/** A repository to index, with the name that it gets in the index. */
interface Claim {
  readonly found: Found;
  readonly name: string;
}

class SyncRun {
  readonly #engine: Engine;
  readonly #config: SyncConfig;
  readonly #options: Settled;
  readonly #semaphore: Semaphore;
  readonly #queue: IndexQueue;
  readonly #removeAfterMs: number;
  readonly #stallMs: number;
  /** Maps each name that is taken in this run to the connection of the repository that has it. */
  readonly #claimed = new Map<string, string>();

  constructor(engine: Engine, config: SyncConfig, options: Settled) {
    this.#engine = engine;
    this.#config = config;
    this.#options = options;
    const { parallel, removeAfter, stallTimeout } = { ...DEFAULTS, ...config.sync };
    this.#semaphore = new Semaphore(parallel);
    this.#removeAfterMs = milliseconds(removeAfter)!;
    this.#stallMs = milliseconds(stallTimeout)!;
    this.#queue = new IndexQueue(engine, {
      signal: options.signal,
      onProgress: (progress) => this.#tell({ kind: "indexing", progress }),
    });
  }

  #tell(progress: SyncProgress): void {
    this.#options.onProgress?.(progress);
  }

  /** Syncs all connections. If an error ends the whole run, `failure` is aborted, which stops the other connections. */
  async all(failure: AbortController): Promise<SyncedConnection[]> {
    const { folder, only } = this.#options;
    const states = await this.#numbered();
    const connections = this.#opened(states);
    const known = await this.#known();
    const damaged = await this.#damaged();
    const guard = async <T>(work: Promise<T>): Promise<T> => {
      try {
        return await work;
      } catch (error) {
        failure.abort(error);
        throw error;
      }
    };
    let before: Promise<unknown> = Promise.resolve();
    const runs = connections.map((connection) => {
      const listed = guard(this.#list(connection));
      listed.catch(() => {}); // the list is awaited below, after those of earlier connections
      const listedInOrder = before.then(() => listed);
      before = listedInOrder.catch(() => {});
      return guard(listedInOrder.then((list) => this.#sync(connection, list, { known, damaged })));
    });
    const settled = await Promise.allSettled(runs);
    const rejected = settled.find(({ status }) => status === "rejected");
    if (rejected?.status === "rejected") throw failure.signal.reason ?? rejected.reason;
    const reports = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    if (only === undefined) reports.push(...(await this.#dropped(states, known)));
    await writeConnections(folder, await this.#written(states, reports));
    return reports;
  }

  /** Assigns an id to each new connection in the configuration. The connection keeps its id in later runs. */
  async #numbered(): Promise<ConnectionStates> {
    const { folder } = this.#options;
    const states = await readConnections(folder);
    let { nextId } = states;
    const connections = [...states.connections];
    for (const [name, { type }] of Object.entries(this.#config.connections)) {
      const at = connections.findIndex((one) => one.name === name);
      if (at < 0) connections.push({ id: nextId++, name, type, repositories: [] });
      else connections[at] = { ...connections[at]!, type };
    }
    const numbered = { ...states, nextId, connections };
    await writeConnections(folder, numbered);
    return numbered;
  }

  #opened(states: ConnectionStates): Connection[] {
    const { only, signal, env = process.env } = this.#options;
    const wanted = Object.entries(this.#config.connections).filter(
      ([name]) => only === undefined || name === only.connection,
    );
    if (only !== undefined && wanted.length === 0)
      throw new QuernError(
        "INVALID_REQUEST",
        `the configuration has no connection ${JSON.stringify(only.connection)}`,
      );
    return wanted.map(([name, config]) =>
      openConnection({
        id: states.connections.find((one) => one.name === name)!.id,
        name,
        config,
        env: env as Variables,
        signal,
        stallMs: this.#stallMs,
        repository: only?.repository,
        onWait: (host, waitMs) => this.#tell({ kind: "waiting", connection: name, host, waitMs }),
      }),
    );
  }

  /** Resolves to a map from the names of the indexed repositories to their folders. */
  async #known(): Promise<Map<string, string | undefined>> {
    const repositories = await this.#engine.repositories();
    return new Map(repositories.map(({ name, origin }) => [name, origin?.folder]));
  }

  /** Resolves to the repositories of a cluster's damaged objects. */
  async #damaged(): Promise<ReadonlySet<string>> {
    const engine = this.#engine as Partial<MayBeDamaged>;
    const damaged = (await engine.status?.())?.damaged ?? [];
    return new Set(damaged.flatMap(({ repositories }) => repositories));
  }

  async #list(connection: Connection): Promise<Listing> {
    const found = new Map<string, Found>();
    const report: SyncedConnection = {
      id: connection.id,
      name: connection.name,
      type: connection.config.type,
      problems: [],
      repositories: [],
    };
    let isWhole = true;
    for await (const listed of connection.list()) {
      throwIfAborted(this.#options.signal);
      if (listed.kind === "repository") found.set(listed.id, listed);
      else {
        isWhole &&= listed.isSingle;
        report.problems.push({ where: listed.where, message: listed.error.message });
      }
    }
    return { found, report, isWhole };
  }

  async #sync(
    connection: Connection,
    { found, report, isWhole }: Listing,
    indexed: Pick<RepositoryRun, "known" | "damaged">,
  ): Promise<SyncedConnection> {
    const { known } = indexed;
    const { config, id, name } = connection;
    const wanted = [...found.values()].filter((one) => isWanted(one, config));
    this.#tell({ kind: "listed", connection: name, wanted: wanted.length });
    const settle = (repository: SyncedRepository): void => {
      report.repositories.push(repository);
      this.#tell({ kind: "repository", connection: name, repository });
    };
    const claims = wanted.flatMap((one) => this.#claim(one, connection, settle));
    const run: RepositoryRun = {
      engine: this.#engine,
      queue: this.#queue,
      connection,
      ...indexed,
      syncFolder: this.#options.folder,
      signal: this.#options.signal,
      onProgress: (repository, line) => this.#tell({ kind: "fetching", repository, line }),
    };
    await Promise.all(
      claims.map(async (claim) => settle(await this.#limited(() => syncRepository(claim, run)))),
    );
    const states = await statesOf(this.#options.folder, id);
    for (const [folder, state] of states) {
      const one = found.get(state.id);
      if (one !== undefined ? isWanted(one, config) : !isWhole || !connection.covers(state))
        continue;
      settle(await this.#forget({ folder, state, isUnwanted: one !== undefined }, known));
    }
    return report;
  }

  async #limited<T>(work: () => Promise<T>): Promise<T> {
    const release = await this.#semaphore.acquire(this.#options.signal);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /**
   * Assigns a name to a repository. If the name is invalid, or another repository has it, reports a failure and
   * returns an empty list.
   */
  #claim(
    found: Found,
    { name: connection, config }: Connection,
    settle: (repository: SyncedRepository) => void,
  ): Claim[] {
    const name = nameOf(found, config.name);
    const problem = problemOfName(name);
    if (problem !== undefined) {
      settle({ name: formatValue(name), outcome: "failed", message: `its name ${problem}` });
      return [];
    }
    const owner = this.#claimed.get(name);
    if (owner === undefined) {
      this.#claimed.set(name, connection);
      return [{ found, name }];
    }
    const message = `${found.path} would be called ${JSON.stringify(name)}, as a repository of the connection ${owner} is; leave one of them out, or give a connection another name template`;
    settle({ name, outcome: "failed", message });
    return [];
  }

  #forget(
    gone: Omit<Gone, "removeAfterMs">,
    known: Map<string, string | undefined>,
  ): Promise<SyncedRepository> {
    const isTaken = this.#claimed.has(gone.state.name);
    return forget(
      this.#engine,
      { ...gone, removeAfterMs: this.#removeAfterMs },
      { known, isTaken },
    );
  }

  /** Handles connections that are no longer in the configuration. Their repositories count as gone. */
  async #dropped(
    states: ConnectionStates,
    known: Map<string, string | undefined>,
  ): Promise<SyncedConnection[]> {
    const reports: SyncedConnection[] = [];
    for (const { id, name } of states.connections) {
      if (Object.hasOwn(this.#config.connections, name)) continue;
      const repositories: SyncedRepository[] = [];
      for (const [folder, state] of await statesOf(this.#options.folder, id))
        repositories.push(await this.#forget({ folder, state, isUnwanted: false }, known));
      if (repositories.length > 0) reports.push({ id, name, problems: [], repositories });
    }
    return reports;
  }

  async #written(
    states: ConnectionStates,
    reports: readonly SyncedConnection[],
  ): Promise<ConnectionStates> {
    const connections = [];
    for (const one of states.connections) {
      const own = await statesOf(this.#options.folder, one.id);
      const isOver = !Object.hasOwn(this.#config.connections, one.name) && own.size === 0;
      if (isOver) continue;
      const names = [...own.values()].filter(isIndexed).map(({ name }) => name);
      const isAsked = reports.some(({ id }) => id === one.id);
      connections.push(isAsked ? { ...one, repositories: names.sort() } : one);
    }
    return { ...states, connections };
  }
}

const isIndexed = ({ indexed }: RepositoryState): boolean => indexed !== undefined;

interface Listing {
  readonly found: ReadonlyMap<string, Found>;
  readonly report: SyncedConnection;
  /** Whether the listing is complete, so that a repository that is not in it is gone. */
  readonly isWhole: boolean;
}
