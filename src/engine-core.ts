/**
 * Defines what implements an engine behind the public methods. There are two implementations: the core of one machine
 * (local-core.ts) and the core of a cluster (cluster/cluster-core.ts). The facade (engine-facade.ts) checks the
 * arguments of the public methods and calls the core. The doors of this package (http, mcp, cli, sync) need more than
 * the public methods, so they get the core from coreOf() in core-of.ts.
 *
 * A core consists of functions that need no `this`, so `{ ...core, view }` is another core with other views. REQUIRES,
 * for every function: the facade or the door has checked the options.
 */

import type { IndexReport } from "./ingest/run/report.ts";
import type { Source } from "./ingest/sources/source.ts";
import type {
  CompactReport,
  IndexWriteOptions,
  StepOptions,
  WriteOptions,
} from "./ingest/writes.ts";
import type { FindRequest, FindResponse } from "./find/request.ts";
import type { History } from "./history/history.ts";
import type { Metric } from "./metrics/metrics-text.ts";
import type { NavigationQuestion } from "./navigation/answer.ts";
import type { NavigationAnswer, NavigationEvent } from "./navigation/request.ts";
import type { ListQuestion, RepositoryPage, RepositorySummary } from "./repositories.ts";
import type { FileContent, FolderEntry, Repository } from "./repository.ts";
import type { Generations } from "./search/caller/generations.ts";
import type { IfMany } from "./search/caller/if-many.ts";
import type { LongAnswer } from "./search/caller/long-answer.ts";
import type { HiddenText } from "./overlay/mask.ts";
import type { SearchOptions, SearchRequest, Viewer } from "./search/messages/request.ts";
import type { Explanation, SearchEvent, SearchResponse } from "./search/messages/response.ts";
import type { BackupOptions, BackupReport } from "./store/upkeep/backup.ts";
import type { CheckReport } from "./store/upkeep/check.ts";
import type { IndexSize, Observer } from "./tracing.ts";
import type { Workspace, WorkspaceOptions } from "./workspace/workspace.ts";

/** A revision of a repository. If no revision is given, the default revision. */
export interface RevisionLocation {
  readonly repository: string;
  /** The revision's name, or the full id of its commit. */
  readonly revision?: string;
}

/** A file or folder in a revision. */
export interface Location extends RevisionLocation {
  readonly path: string;
}

/**
 * The state of the index that one call sees: its repositories as the viewer may see them, its files, and the unsaved
 * documents in their place.
 */
export interface CoreView {
  /** Searches. If many ranges match, `ifMany` may change what the answer shows. A core may ignore `ifMany`. */
  readonly search: (request: SearchRequest, ifMany?: IfMany) => Promise<SearchResponse>;
  /** Searches, and produces only the beginning of a long answer. The rest is produced when it is read. */
  readonly begin: (request: SearchRequest) => Promise<SearchResponse | LongAnswer>;
  readonly stream: (request: SearchRequest) => AsyncIterable<SearchEvent>;
  readonly explain: (request: SearchRequest) => Promise<Explanation>;
  /** Answers a question in words, or rejects if the core does not support it. */
  readonly find: (request: FindRequest) => Promise<FindResponse>;
  /** Answers a question about a symbol, or rejects if the core does not support it. */
  readonly navigate: (question: NavigationQuestion) => Promise<NavigationAnswer>;
  /** Finds the uses of a symbol, and yields them as files are resolved. */
  readonly streamUses: (question: NavigationQuestion) => AsyncIterable<NavigationEvent>;
  /** Resolves to `notIndexed` of explain(), but without the skipped files. Runs no search if the core can avoid it. */
  readonly notIndexed: (request: SearchRequest) => Promise<Explanation["notIndexed"]>;
  readonly read: (file: Location) => Promise<FileContent | undefined>;
  readonly list: (folder: Location) => Promise<FolderEntry[] | undefined>;
  /** Resolves to the paths of all files of a revision, in no particular order. */
  readonly paths: (revision: RevisionLocation) => Promise<string[] | undefined>;
}

/** Finds repositories. The summaries leave out what takes long to read. */
export interface RepositoryLists {
  /** Resolves to the ids of all public repositories. Resolves to the same set until the ids change. */
  readonly publicIds: () => Promise<ReadonlySet<number>>;
  readonly find: (
    nameOrId: string | number,
    viewer: Viewer | undefined,
  ) => Promise<RepositorySummary | undefined>;
  readonly page: (question: ListQuestion) => Promise<RepositoryPage>;
  /** Resolves to a repository with its skipped files and the progress of its symbols. */
  readonly describe: (
    nameOrId: string | number,
    viewer: Viewer | undefined,
  ) => Promise<Repository | undefined>;
  readonly describeAll: (page: {
    readonly viewer?: Viewer;
    readonly query?: string;
    readonly after?: string;
    readonly limit?: number;
  }) => Promise<Repository[]>;
}

/** The part of a core that only reads. In a cluster, it is another machine's or all machines' index. */
export interface ReadingCore {
  /** The newest generation that was read, or 0 if none was read yet. */
  readonly generation: () => number;
  /**
   * Returns what a call with these options sees. Reads the overlay before it returns. Throws INVALID_REQUEST if a
   * document of the overlay is invalid, or if the core does not support overlays.
   */
  readonly view: (options: SearchOptions) => CoreView;
  readonly repositories: RepositoryLists;
  /**
   * Opens the history of a repository. Resolves to undefined if the viewer sees no such repository. Rejects with
   * HISTORY_NOT_AVAILABLE and the reason if it has no history.
   */
  readonly history: (
    repository: string,
    viewer: Viewer | undefined,
  ) => Promise<History | undefined>;
  readonly check: (options: { readonly signal?: AbortSignal }) => Promise<CheckReport>;
  readonly trim: () => void;
  /** Receives each trace of the engine. Undefined if the core does not trace. */
  readonly observed: Observed | undefined;
}

export interface Observed {
  /** Adds an observer for the lifetime of the engine. */
  readonly add: (observer: Observer) => void;
  readonly size: () => Promise<IndexSize>;
}

export interface EngineCore extends ReadingCore {
  /** The absolute path of the data directory. */
  readonly path: string;
  readonly index: (
    source: Source | Iterable<Source> | AsyncIterable<Source>,
    options: IndexWriteOptions,
  ) => Promise<IndexReport[]>;
  readonly remove: (repository: string, steps: StepOptions) => Promise<boolean>;
  readonly compact: (options: WriteOptions) => Promise<CompactReport>;
  /** Copies the data directory, or rejects if the core does not support it. */
  readonly backup: (target: string, options: BackupOptions) => Promise<BackupReport>;
  readonly workspace: (path: string, options: WorkspaceOptions) => Promise<Workspace>;
  /** Returns a core whose views also include the changes of all open workspaces before they are indexed. */
  readonly upToDate: () => EngineCore;
  /**
   * Returns a core for which hidden files and texts do not exist, neither in its views nor in its histories. Undefined if
   * the core does not support it.
   */
  readonly without: ((hidden: HiddenText) => EngineCore) | undefined;
  /**
   * Resolves when searches see the given generations of a cluster's shards, or newer ones. Rejects with OVERLOADED if
   * that takes too long. Undefined if the engine has no shards.
   */
  readonly reach: ((generations: Generations, signal: AbortSignal) => Promise<void>) | undefined;
  /** Resolves to the metrics that only this kind of engine has. Never rejects. */
  readonly metrics: () => Promise<Metric[]>;
  readonly isClosed: () => boolean;
  readonly close: () => Promise<void>;
}
