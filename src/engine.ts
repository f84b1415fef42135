/**
 * Defines the interface of an engine, which is an open data directory. Hosts use this interface, and so do the
 * folders of src that work with engines.
 */

import type { CompactReport } from "./ingest/writes.ts";
import type { IndexProgress, IndexReport } from "./ingest/run/report.ts";
import type { Source } from "./ingest/sources/source.ts";
import type { BackupOptions, BackupReport } from "./store/upkeep/backup.ts";
import type { CheckReport } from "./store/upkeep/check.ts";
import type { Contexts } from "./search/caller/understand.ts";
import type { WebUrl } from "./search/caller/present.ts";
import type { SearchOptions, SearchRequest, Viewer } from "./search/messages/request.ts";
import type { Explanation, SearchEvent, SearchResponse } from "./search/messages/response.ts";
import type { FindOptions, FindRequest, FindResponse } from "./find/request.ts";
import type {
  CallersOptions,
  NavigationAnswer,
  NavigationCaller,
  NavigationEvent,
  NavigationOptions,
  NavigationTarget,
} from "./navigation/request.ts";
import type { Workspace, WorkspaceOptions } from "./workspace/workspace.ts";
import type { History } from "./history/history.ts";
import type { FileContent, FolderEntry, Repository } from "./repository.ts";

/**
 * An open data directory. Searches run in parallel. Writes run one after another.
 *
 * @example
 * await engine.index(git("./shop"));
 * const { stats } = await engine.search({ query: "todo", matches: 0 });
 * console.log(stats.totalMatchCount);
 */
export interface Engine extends AsyncDisposable {
  /** The absolute path of the data directory. */
  readonly path: string;
  /**
   * The newest generation of the index that this engine has read, or 0 if it has not read the index yet. The
   * generation rises with each publication by any process. It is stored in the index, so it does not start again at 0
   * after a restart.
   */
  readonly generation: number;
  /**
   * Indexes one or more sources. The files of all sources fill shared segments. Each repository is published in a
   * transaction of its own. If other writes of this process are running or waiting, waits until they have ended.
   *
   * @example
   * const reports = await engine.index([git("./shop"), directory("./notes")]);
   */
  index(
    source: Source | Iterable<Source> | AsyncIterable<Source>,
    options?: IndexOptions,
  ): Promise<IndexReport[]>;
  /**
   * Searches, and resolves to one answer. The answer contains the best files, and exact counts of everything that
   * matches.
   *
   * @example
   * const { files, stats } = await engine.search({ query: "retry lang:go", matches: 50 });
   */
  search(request: SearchRequest, options?: SearchOptions): Promise<SearchResponse>;
  /**
   * Streams matching files as they are found, without ranking them. The last event is 'final'. Breaking out of the
   * loop over the events stops the search.
   *
   * @example
   * for await (const event of engine.stream({ query: "retry", matches: 1000 }))
   *   if (event.type === "chunk") console.log(event.files.length);
   */
  stream(request: SearchRequest, options?: SearchOptions): AsyncIterable<SearchEvent>;
  /**
   * Explains how quern understands and plans a query. Also runs the search. If the search finds nothing, suggests
   * queries that find something.
   *
   * @example
   * const { suggestions } = await engine.explain({ query: "Retry lang:goo", matches: 50 });
   */
  explain(request: SearchRequest, options?: SearchOptions): Promise<Explanation>;
  /**
   * Finds the places that a question describes, such as "where is the retry delay computed", or that have a name. The
   * answer is a choice of the best places, and never all of them.
   *
   * @example
   * const { places } = await engine.find({ text: "parse a duration", query: "lang:go" });
   * for (const { path, lines } of places) console.log(`${path}:${lines.from}`);
   */
  find(request: FindRequest, options?: FindOptions): Promise<FindResponse>;
  /**
   * Finds the definitions of a symbol, which is given by its name or by a place where it is named. Works without a
   * build, by rules of the language. There are rules for Go, Python, TypeScript and JavaScript.
   *
   * @example
   * const place = { repository: "shop", path: "src/cart.ts", line: 12, column: 10 };
   * const { places } = await engine.definitionsOf(place);
   * console.log(places[0]?.path, places[0]?.certainty);
   */
  definitionsOf(target: NavigationTarget, options?: NavigationOptions): Promise<NavigationAnswer>;
  /**
   * Finds the uses of a symbol, and says of each how certain it is. Places that only have the same name are 'possible'.
   *
   * @example
   * const { places, leftOut } = await engine.usesOf({ symbol: "Cart.add", repository: "shop" });
   * for (const { path, range, certainty } of places)
   *   console.log(`${path}:${range.start.lineNumber}`, certainty);
   */
  usesOf(target: NavigationTarget, options?: NavigationOptions): Promise<NavigationAnswer>;
  /**
   * Finds the uses of a symbol as usesOf() does, and yields them as files are resolved. The last event is 'final'.
   *
   * @example
   * for await (const event of engine.streamUses({ symbol: "Cart.add" }))
   *   if (event.type === "places") console.log(event.places.length, event.filesLeft);
   */
  streamUses(target: NavigationTarget, options?: NavigationOptions): AsyncIterable<NavigationEvent>;
  /**
   * Finds the functions that call a symbol. With a depth, also finds their callers.
   *
   * @example
   * const { places } = await engine.callersOf({ symbol: "Cart.add" }, { depth: 2 });
   * for (const { inside, depth } of places) console.log(inside?.symbol, depth);
   */
  callersOf(
    target: NavigationTarget,
    options?: CallersOptions,
  ): Promise<NavigationAnswer<NavigationCaller>>;
  /**
   * Finds the types that implement or extend a type, or the members of these types that replace a member.
   *
   * @example
   * const { places } = await engine.implementationsOf({ symbol: "Store", repository: "shop" });
   * console.log(places.map(({ inside }) => inside?.symbol));
   */
  implementationsOf(
    target: NavigationTarget,
    options?: NavigationOptions,
  ): Promise<NavigationAnswer>;
  /**
   * Looks up one repository by its name or id. Resolves to `undefined` if it does not exist or the viewer may not see
   * it. The look-up takes the same time however many repositories there are.
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
   * Lists the indexed repositories that the viewer may see, sorted by name. By default, lists all of them.
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
   * Lists the direct children of a folder. The path of the root folder is ''. Resolves to `undefined` if the folder
   * does not exist or the viewer may not see it. Reads the default revision unless `revision` is given.
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
   * Indexes a folder or git work tree and watches it for changes. Each search of the workspace sees the files as they
   * are on disk when it runs. Resolves when the content is in the index. Symbols are extracted after that.
   *
   * @example
   * await using tree = await engine.workspace("./shop");
   * const { files } = await tree.search({ query: "todo", matches: 20 });
   */
  workspace(path: string, options?: WorkspaceOptions): Promise<Workspace>;
  /**
   * Opens the git history of a repository, with its commits, authors, differences, blame, and files of any revision.
   * Resolves to `undefined` if the repository does not exist, if the viewer may not see it, if it was not indexed
   * from git, or if its clone is gone.
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
   * Merges segments, and then deletes the old segments. Before it deletes them, waits until no search of this process
   * reads them. After a merge, always waits at least 10 s, because searches of other processes may read the old
   * segments.
   *
   * @example
   * const { bytesFreed } = await engine.compact({ onProgress: ({ stage }) => console.log(stage) });
   */
  compact(options?: {
    /** Aborting makes compact() reject with ABORTED. Merges that are already published are kept. */
    signal?: AbortSignal;
    /** Called with progress updates. */
    onProgress?: (progress: IndexProgress) => void;
  }): Promise<CompactReport>;
  /**
   * Copies the data directory to a new folder, while searches continue. Other writes wait until the copy is complete.
   * The copy is verified as check() does. It is a data directory itself, which open() accepts. It includes the keys,
   * members and audit records, but not the clones of `quern sync`. If backup() rejects, it leaves no folder.
   *
   * @example
   * const { bytes } = await engine.backup("/backups/monday");
   */
  backup(folder: string, options?: BackupOptions): Promise<BackupReport>;
  /**
   * Reads and verifies the whole index in a child process. Reports damage in the result. Does not reject because of
   * damage.
   *
   * @example
   * const { ok, problems } = await engine.check({ signal: AbortSignal.timeout(60_000) });
   */
  check(options?: {
    /** Aborting makes check() reject with ABORTED. */
    signal?: AbortSignal;
  }): Promise<CheckReport>;
  /**
   * Releases memory that serves only to make searches faster, such as the text cache and each thread's tables of
   * segments. Running searches continue. A thread that is searching releases its memory when the search has ended.
   * The next searches are slower.
   *
   * @example
   * import { freemem } from "node:os";
   * setInterval(() => freemem() < 2 ** 30 && engine.trim(), 60_000).unref();
   */
  trim(): void;
  /**
   * Closes the engine. Running searches reject with ENGINE_CLOSED. A running index run stops, and also rejects with
   * ENGINE_CLOSED. Repositories that are already published stay. May be called more than once.
   *
   * @example
   * process.once("SIGTERM", () => void engine.close());
   */
  close(): Promise<void>;
}

/**
 * Options of Engine.read() and Engine.list().
 *
 * @example
 * const options: ReadOptions = { overlay: [{ repository: "shop", path: "a.ts", content: "" }] };
 * const file = await engine.read({ repository: "shop", path: "a.ts" }, options);
 */
export type ReadOptions = Pick<SearchOptions, "viewer" | "overlay">;

/**
 * Options of Engine.repositories().
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
   * Lists only repositories whose names come after this name, in the order of UTF-16 code units. No repository need
   * have this name. Default: starts with the first repository.
   */
  after?: string;
  /** The maximum number of repositories to list. Default: all. */
  limit?: number;
}

/**
 * Options of Engine.index().
 *
 * @example
 * const options: IndexOptions = { symbols: "skip", signal: AbortSignal.timeout(60_000) };
 * await engine.index(directory("./notes"), options);
 */
export interface IndexOptions {
  /**
   * Aborting makes index() reject with ABORTED, at most a second later if the source does not react. Repositories that
   * are already published stay.
   */
  signal?: AbortSignal;
  /** Called with progress updates. */
  onProgress?: (progress: IndexProgress) => void;
  /**
   * When symbols are extracted. With 'after' (default), index() publishes the content first, then extracts symbols,
   * and then resolves. With 'skip', it extracts no symbols.
   */
  symbols?: "after" | "skip";
  /**
   * When words are indexed for find(). With 'after' (default), index() does this after the symbols, and then resolves.
   * With 'skip', find() leaves the new files out until a later run has indexed their words.
   */
  words?: "after" | "skip";
}

/**
 * Options of open().
 *
 * @example
 * const options: OpenOptions = { workers: 2, memoryBudget: 128 * 2 ** 20, lockTimeoutMs: 10_000 };
 * const engine = await open("./index", options);
 */
export interface OpenOptions {
  /**
   * Whether the engine only reads the index. If it is true, index(), remove() and compact() reject with
   * INDEX_READ_ONLY. Default false.
   */
  readOnly?: boolean;
  /**
   * The number of threads that search and index. With 0, the calling thread does this work, and yields to the event
   * loop every 4 ms. Default: the number of cores, but at most 4.
   */
  workers?: number;
  /** The memory that an index run may use in addition to a fixed base, in bytes. Default 256 MiB, at least 32 MiB. */
  memoryBudget?: number;
  /**
   * Whether the engine runs searches of its own while it is idle, so that V8 compiles the code before the host
   * searches. Default true.
   */
  warmUp?: boolean;
  /**
   * The maximum size of a file whose content is indexed, in bytes. A larger file is listed as skipped ('too-large').
   * Searches find it by its path, but not by its content. Default 2 MiB, at most 16 MiB.
   */
  maxFileSize?: number;
  /**
   * How long a write waits if another process is writing, in milliseconds. If the other process has not finished by
   * then, the write rejects with INDEX_LOCKED. Default 0.
   */
  lockTimeoutMs?: number;
  /**
   * Returns the address at which this host shows a file. Default: `/browse/<repository>@<revision>/-/blob/<path>`,
   * encoded.
   */
  webUrl?: WebUrl;
  /**
   * Looks up the context that a `context:` filter names, and resolves to its repositories. If it resolves to
   * `undefined`, there is no such context, and the search rejects with CONTEXT_NOT_FOUND.
   */
  contexts?: Contexts;
  /**
   * Called when a search or an index run finds damage in the index, or when a worker dies. A search that
   * finds damage continues. The searches of a worker that dies are rejected. Default: warnings are ignored.
   */
  onWarning?: (warning: {
    /**
     * An ErrorCode. It is 'INDEX_CORRUPT' for damage, and 'INTERNAL' for a worker that died, or a match that RE2 does
     * not confirm.
     */
    code: string;
    /** A message for people. */
    message: string;
  }) => void;
}
