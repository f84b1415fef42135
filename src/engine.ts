/**
 * Defines the interface of an open data directory, for hosts and for the folders of src that build on it.
 */

import type { CompactReport } from "./ingest/writes.ts";
import type { IndexProgress, IndexReport } from "./ingest/run/report.ts";
import type { Source } from "./ingest/sources/source.ts";
import type { CheckReport } from "./store/upkeep/check.ts";
import type { Environment } from "./store/lmdb/environment.ts";
import type { Catalog } from "./store/catalog/catalog.ts";
import type { SearcherOptions } from "./search/caller/attempts.ts";
import type { Contexts } from "./search/caller/understand.ts";
import type { KnowsNotIndexed } from "./search/caller/not-indexed.ts";
import type { WebUrl } from "./search/caller/present.ts";
import type { SearchOptions, SearchRequest, Viewer } from "./search/messages/request.ts";
import type { Explanation, SearchEvent, SearchResponse } from "./search/messages/response.ts";
import type { Workspace, WorkspaceOptions } from "./workspace/workspace.ts";
import type { OpensHistory } from "./history/histories.ts";
import type { History } from "./history/history.ts";
import type { Reader } from "./reader.ts";
import type { KnowsRepositories } from "./repositories.ts";
import type { FileContent, FolderEntry, Repository } from "./repository.ts";

/**
 * An open data directory. Searches run in parallel; writes run one after another.
 *
 * @example
 * await engine.index(git("./shop"));
 * const { stats } = await engine.search({ query: "todo", matches: 0 });
 * console.log(stats.totalMatchCount);
 */
export interface Engine extends AsyncDisposable {
  /** The data directory, absolute. */
  readonly path: string;
  /**
   * The newest generation of the index that this engine has seen; 0 before its first call. It rises with each
   * publication by any process, and continues from the same number after a restart.
   */
  readonly generation: number;
  /**
   * Indexes one or many sources, which share segments. Publishes each repository in its own transaction. Waits until
   * earlier writes of this process have ended.
   *
   * @example
   * const reports = await engine.index([git("./shop"), directory("./notes")]);
   */
  index(
    source: Source | Iterable<Source> | AsyncIterable<Source>,
    options?: IndexOptions,
  ): Promise<IndexReport[]>;
  /**
   * Searches and returns one answer: the best files, and exact counts of everything that matches.
   *
   * @example
   * const { files, stats } = await engine.search({ query: "retry lang:go", matches: 50 });
   */
  search(request: SearchRequest, options?: SearchOptions): Promise<SearchResponse>;
  /**
   * Streams files as they are found, unranked. The last event is 'final'. Leaving the loop ends the search.
   *
   * @example
   * for await (const event of engine.stream({ query: "retry", matches: 1000 }))
   *   if (event.type === "chunk") console.log(event.files.length);
   */
  stream(request: SearchRequest, options?: SearchOptions): AsyncIterable<SearchEvent>;
  /**
   * Explains how a query is understood and planned. Also runs the search, and if that finds nothing, suggests queries
   * that find something.
   *
   * @example
   * const { suggestions } = await engine.explain({ query: "Retry lang:goo", matches: 50 });
   */
  explain(request: SearchRequest, options?: SearchOptions): Promise<Explanation>;
  /**
   * Looks one repository up by its name or id. Resolves to `undefined` if it does not exist or the viewer may not see
   * it. Takes the same time however many repositories there are.
   *
   * @example
   * const shop = await engine.repository("shop");
   * console.log(shop?.revisions[0]?.commit, shop?.skipped.length);
   */
  repository(
    nameOrId: string | number,
    options?: {
      /** Limits the answer to the repositories that the viewer may see. */
      viewer?: Viewer;
    },
  ): Promise<Repository | undefined>;
  /**
   * Lists the indexed repositories that the viewer may see, by name: all of them, or a page.
   *
   * @example
   * const names = (await engine.repositories()).map(({ name }) => name);
   * const page = await engine.repositories({ query: "shop", after: "acme/b", limit: 30 });
   */
  repositories(options?: RepositoriesOptions): Promise<Repository[]>;
  /**
   * Reads a file. Resolves to `undefined` if it does not exist or the viewer may not see it. Reads the
   * default revision unless `revision` is given.
   *
   * @example
   * const file = await engine.read({ repository: "shop", path: "src/cart.ts" });
   */
  read(
    file: {
      /** The name of the repository. */
      repository: string;
      /** The path from the repository's root, with '/' between folders. */
      path: string;
      /** The revision's name, or the full id of its commit. */
      revision?: string;
    },
    options?: ReadOptions,
  ): Promise<FileContent | undefined>;
  /**
   * Lists the direct children of a folder; '' is the root. Resolves to `undefined` if the folder does not
   * exist or the viewer may not see it.
   *
   * @example
   * const root = await engine.list({ repository: "shop", path: "" });
   */
  list(
    folder: {
      /** The name of the repository. */
      repository: string;
      /** The path from the repository's root, with '/' between folders. */
      path: string;
      /** The revision's name, or the full id of its commit. */
      revision?: string;
    },
    options?: ReadOptions,
  ): Promise<FolderEntry[] | undefined>;
  /**
   * Indexes a folder or git work tree and follows its changes, so that searches of the workspace see the
   * disk as it is. Resolves when its content is in the index; symbols follow.
   *
   * @example
   * await using tree = await engine.workspace("./shop");
   * const { files } = await tree.search({ query: "todo", matches: 20 });
   */
  workspace(path: string, options?: WorkspaceOptions): Promise<Workspace>;
  /**
   * Opens the git history of a repository: commits, authors, differences, blame, and files of any revision. Resolves to
   * `undefined` if the repository does not exist, if the viewer may not see it, if it was not indexed from git, or if
   * its clone is gone.
   *
   * @example
   * const history = await engine.history("shop");
   * const { commits, total } = (await history?.commits({ limit: 10 })) ?? {};
   */
  history(
    repository: string,
    options?: {
      /** Limits the answer to the repositories that the viewer may see. */
      viewer?: Viewer;
    },
  ): Promise<History | undefined>;
  /**
   * Removes a repository from the index. Resolves to false if no repository has this name.
   *
   * @example
   * if (!(await engine.remove("shop"))) console.log("there is no shop");
   */
  remove(repository: string): Promise<boolean>;
  /**
   * Merges segments, waits until no search reads the old ones (10 s for searches of other processes), and deletes
   * them.
   *
   * @example
   * const { bytesFreed } = await engine.compact({ onProgress: ({ stage }) => console.log(stage) });
   */
  compact(options?: {
    /** Aborting rejects with ABORTED; merges that are already published stay. */
    signal?: AbortSignal;
    /** Called with progress updates. */
    onProgress?: (progress: IndexProgress) => void;
  }): Promise<CompactReport>;
  /**
   * Reads and verifies the whole index in a child process. Damage is reported in the result, not thrown.
   *
   * @example
   * const { ok, problems } = await engine.check({ signal: AbortSignal.timeout(60_000) });
   */
  check(options?: {
    /** Aborting rejects with ABORTED. */
    signal?: AbortSignal;
  }): Promise<CheckReport>;
  /**
   * Releases memory that only makes searches faster: the text cache, and each thread's tables of segments. Running
   * searches continue; their threads release the memory when they have finished. The next searches are slower.
   *
   * @example
   * import { freemem } from "node:os";
   * setInterval(() => freemem() < 2 ** 30 && engine.trim(), 60_000).unref();
   */
  trim(): void;
  /**
   * Closes the engine. Running searches reject with ENGINE_CLOSED; a running index run stops as if aborted.
   * May be called more than once.
   *
   * @example
   * process.once("SIGTERM", () => void engine.close());
   */
  close(): Promise<void>;
}

/**
 * Options of read() and list().
 *
 * @example
 * const options: ReadOptions = { overlay: [{ repository: "shop", path: "a.ts", content: "" }] };
 * const file = await engine.read({ repository: "shop", path: "a.ts" }, options);
 */
export type ReadOptions = Pick<SearchOptions, "viewer" | "overlay">;

/**
 * Options of repositories().
 *
 * @example
 * const options: RepositoriesOptions = { query: "shop", limit: 30 };
 * const first = await engine.repositories(options);
 * const next = await engine.repositories({ ...options, after: first.at(-1)?.name ?? "" });
 */
export interface RepositoriesOptions {
  /** Limits the list to the repositories that the viewer may see. */
  viewer?: Viewer;
  /** Lists only repositories whose name or display name contains this text, regardless of case. Default: all. */
  query?: string;
  /**
   * Lists only names after this one, compared by UTF-16 code units. The name need not exist. Default: from the first.
   */
  after?: string;
  /** The maximum number of repositories to list. Default: all. */
  limit?: number;
}

/**
 * Options of index().
 *
 * @example
 * const options: IndexOptions = { symbols: "skip", signal: AbortSignal.timeout(60_000) };
 * await engine.index(directory("./notes"), options);
 */
export interface IndexOptions {
  /** Aborts the run, which then rejects with ABORTED. Repositories that are already published stay. */
  signal?: AbortSignal;
  /** Called with progress updates. */
  onProgress?: (progress: IndexProgress) => void;
  /**
   * 'after' (default) publishes the content first and extracts symbols before index() resolves. 'skip' extracts none.
   */
  symbols?: "after" | "skip";
}

/**
 * Options of open().
 *
 * @example
 * const options: OpenOptions = { workers: 2, memoryBudget: 128 * 2 ** 20, lockTimeoutMs: 10_000 };
 * const engine = await open("./index", options);
 */
export interface OpenOptions {
  /** Never writes: index(), remove() and compact() reject with INDEX_READ_ONLY. Default false. */
  readOnly?: boolean;
  /**
   * Threads that search and index. Default: one for each core, at most 4. With 0 the calling thread does the work and
   * yields every 4 ms.
   */
  workers?: number;
  /** Bytes of memory that indexing may use in addition to a fixed base. Default 256 MiB, at least 32 MiB. */
  memoryBudget?: number;
  /** Bytes of text that searches keep in memory, for all threads together; 0 (default) keeps none. At most 4 GiB. */
  textCache?: number;
  /** Whether threads warm up for searches while the engine is idle. Default true. */
  warmUp?: boolean;
  /**
   * Bytes. Larger files are listed as skipped ('too-large') and found by path, not by content. Default 2 MiB, at most
   * 16 MiB.
   */
  maxFileSize?: number;
  /**
   * Milliseconds that a write waits for another process to stop writing before it rejects with INDEX_LOCKED. Default 0.
   */
  lockTimeoutMs?: number;
  /**
   * Returns the address at which this host shows a file. Default: `/browse/<repository>@<revision>/-/blob/<path>`,
   * encoded.
   */
  webUrl?: WebUrl;
  /**
   * Resolves each name in a `context:` filter to a set of repositories. `undefined` makes the search reject with
   * CONTEXT_NOT_FOUND.
   */
  contexts?: Contexts;
  /** Called when a search finds damage or a worker dies. The search continues. Default: no call. */
  onWarning?: (warning: {
    /** An ErrorCode: 'INDEX_CORRUPT' for damage, 'INTERNAL' for a worker that died. */
    code: string;
    /** A message for people. */
    message: string;
  }) => void;
}

/**
 * The key of a method of an open engine. The method returns another engine, whose answers include changes of workspaces
 * that are not indexed yet. Not part of the public interface: `quern mcp` uses it.
 */
export const FRESH = Symbol.for("quern.fresh");

export interface GivesFresh {
  [FRESH](workspaces: () => readonly Workspace[]): FreshEngine;
}

export type FreshEngine = Pick<
  Engine,
  "search" | "explain" | "read" | "list" | "repository" | "repositories" | "history"
> &
  KnowsNotIndexed &
  KnowsRepositories &
  OpensHistory;

/**
 * The key under which an open engine provides its parts. Not part of the public interface: quern/cluster uses it for
 * directories that hold slices of an index.
 */
export const PARTS = Symbol.for("quern.parts");

export interface HasParts {
  readonly [PARTS]: {
    readonly environment: Environment;
    readonly newest: () => Promise<Catalog>;
    readonly searching: SearcherOptions;
    readonly reader: Reader;
  };
}
