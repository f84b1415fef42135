/** Defines the progress and the report of a sync run. */

import type { IndexProgress } from "../ingest/run/report.ts";
import type { ConnectionType } from "./config/config.ts";

/**
 * The outcome for one repository.
 *
 * @example
 * const isTrouble = ({ outcome }: SyncedRepository): boolean => outcome === "failed";
 */
export interface SyncedRepository {
  /** The name in the index. */
  name: string;
  /**
   * 'empty': it has no branch. 'gone': its host no longer lists it, and it stays for a while. 'removed': it
   * is no longer in the index.
   */
  outcome: "indexed" | "unchanged" | "empty" | "gone" | "removed" | "failed";
  /** An explanation for people: why it failed, or how long a repository that is gone stays. */
  message?: string;
}

/**
 * The outcome for one connection.
 *
 * @example
 * const show = ({ name, problems }: SyncedConnection): void =>
 *   problems.forEach(({ where, message }) => console.error(name, where, message));
 */
export interface SyncedConnection {
  /** The connection's id, for GET /api/repos?connectionId=. It stays the same as long as the name stays the same. */
  id: number;
  /** The connection's name in the configuration. */
  name: string;
  /** The connection's type. Absent if the configuration no longer has the connection. */
  type?: ConnectionType;
  /** Lists that failed. If there are any, no repository counts as gone. */
  problems: {
    /** The field and value in the configuration, such as 'orgs: acme'. */
    where: string;
    /** A message for people. */
    message: string;
  }[];
  /** Every repository that is listed and not excluded, and every repository of an earlier run. */
  repositories: SyncedRepository[];
}

/**
 * The result of syncConnections().
 *
 * @example
 * const { connections } = await syncConnections(engine, config);
 * const failed = connections.flatMap(({ repositories }) =>
 *   repositories.filter(({ outcome }) => outcome === "failed"),
 * );
 */
export interface SyncReport {
  /** The connections in the order of the configuration, then those that are no longer in it. */
  connections: SyncedConnection[];
  /** Milliseconds that the run took. */
  durationMs: number;
}

/**
 * The progress of a run.
 *
 * @example
 * const onProgress = (progress: SyncProgress): void => {
 *   if (progress.kind === "waiting") console.error(`${progress.host} wants a pause`);
 * };
 */
export type SyncProgress =
  | {
      /** A connection is listed. */
      kind: "listed";
      /** The name of the connection. */
      connection: string;
      /** How many repositories of the connection are wanted. */
      wanted: number;
    }
  | {
      /** A host asks to wait for a while. */
      kind: "waiting";
      /** Name of the connection. */
      connection: string;
      /** The code host's name and port, such as `api.github.com`. */
      host: string;
      /** Milliseconds that the run waits for this connection. */
      waitMs: number;
    }
  | {
      /** Git reports the progress of a fetch. */
      kind: "fetching";
      /** Name of the repository in the index. */
      repository: string;
      /** The progress in git's words. */
      line: string;
    }
  | {
      /** The engine is indexing what was fetched. */
      kind: "indexing";
      /** The progress of the index run. */
      progress: IndexProgress;
    }
  | {
      /** A repository is finished. */
      kind: "repository";
      /** Name of the connection. */
      connection: string;
      /** The outcome for the repository. */
      repository: SyncedRepository;
    };
