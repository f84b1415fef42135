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
  /** The name of the repository in the index. */
  name: string;
  /**
   * What happened to the repository. 'empty' means that it has no branch. 'gone' means that its host no longer lists
   * it, but that it stays in the index for a while. 'removed' means that it is no longer in the index.
   */
  outcome: "indexed" | "unchanged" | "empty" | "gone" | "removed" | "failed";
  /** An explanation for people. It says why the sync failed, or how long a gone repository stays in the index. */
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
  /**
   * The parts of the connection that could not be listed. As long as the list of repositories is incomplete, none of
   * them counts as gone. A configured repository that does not exist is reported here, but does not make the list
   * incomplete.
   */
  problems: {
    /** The field and value in the configuration, such as 'orgs: acme'. */
    where: string;
    /** A message for people. */
    message: string;
  }[];
  /** The repositories that are listed and not excluded, and those that are gone or were removed. */
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
  /** The connections in the order of the configuration, followed by those that are no longer in it. */
  connections: SyncedConnection[];
  /** The duration of the run, in milliseconds. */
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
      /** The repositories of a connection have been listed. */
      kind: "listed";
      /** The name of the connection. */
      connection: string;
      /** The number of listed repositories that the configuration includes. */
      wanted: number;
    }
  | {
      /** A host has asked quern to wait. */
      kind: "waiting";
      /** Name of the connection. */
      connection: string;
      /** The code host's name and port, such as `api.github.com`. */
      host: string;
      /** How long the connection waits, in milliseconds. */
      waitMs: number;
    }
  | {
      /** Git reports the progress of a fetch. */
      kind: "fetching";
      /** The name of the repository in the index. */
      repository: string;
      /** One line of git's progress output. */
      line: string;
    }
  | {
      /** The engine is indexing repositories. */
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
