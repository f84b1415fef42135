/** What a run of sync tells: its progress, and what became of every repository. */

import type { IndexProgress } from "../ingest/run/report.ts";
import type { ConnectionType } from "./config/config.ts";

/**
 * What became of one repository.
 *
 * @example
 * const isTrouble = ({ outcome }: SyncedRepository): boolean => outcome === "failed";
 */
export interface SyncedRepository {
  /** In the index. */
  name: string;
  /** 'empty': it has no branch; 'gone': its host no longer lists it, and it stays for a while; 'removed': it is out of the index. */
  outcome: "indexed" | "unchanged" | "empty" | "gone" | "removed" | "failed";
  /** For people: why, where the outcome is 'failed', and until when, where it is 'gone'. */
  message?: string;
}

/**
 * What became of one connection.
 *
 * @example
 * const show = ({ name, problems }: SyncedConnection): void =>
 *   problems.forEach(({ where, message }) => console.error(name, where, message));
 */
export interface SyncedConnection {
  /** An id that stays as long as the name: what GET /api/repos?connectionId= takes. */
  id: number;
  /** As the configuration has it. */
  name: string;
  /** Its kind; absent where the configuration no longer has it. */
  type?: ConnectionType;
  /** What could not be listed. Then nothing counts as gone. */
  problems: {
    /** Field and value of the configuration, such as 'orgs: acme'. */
    where: string;
    /** For people. */
    message: string;
  }[];
  /** Every repository that is listed and wanted, and every one that was. */
  repositories: SyncedRepository[];
}

/**
 * What syncConnections() did.
 *
 * @example
 * const { connections } = await syncConnections(engine, config);
 * const failed = connections.flatMap(({ repositories }) =>
 *   repositories.filter(({ outcome }) => outcome === "failed"),
 * );
 */
export interface SyncReport {
  /** In the order of the configuration, then those that it no longer has. */
  connections: SyncedConnection[];
  /** Milliseconds that the run took. */
  durationMs: number;
}

/**
 * Where a run is.
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
      /** Name of the connection. */
      connection: string;
      /** How many of its repositories are wanted. */
      wanted: number;
    }
  | {
      /** A host wants to be left alone for a while. */
      kind: "waiting";
      /** Name of the connection. */
      connection: string;
      /** Its host. */
      host: string;
      /** Milliseconds that the run waits for this connection. */
      waitMs: number;
    }
  | {
      /** Git tells how far a fetch is. */
      kind: "fetching";
      /** Name of the repository in the index. */
      repository: string;
      /** In git's words. */
      line: string;
    }
  | {
      /** The engine indexes what was fetched. */
      kind: "indexing";
      /** Where it is. */
      progress: IndexProgress;
    }
  | {
      /** A repository is finished. */
      kind: "repository";
      /** Name of the connection. */
      connection: string;
      /** What became of it. */
      repository: SyncedRepository;
    };
