/**
 * Opens a data directory for a host. The engine connects store, ingest and search, and owns their lifetimes. It
 * contains no other logic.
 */

import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { packageFile } from "./base/package-file.ts";
import { closedError, QuernError } from "./base/errors.ts";
import { checkKeys, type KeysOf } from "./base/known-keys.ts";
import { mustBe, wholeNumber } from "./base/must-be.ts";
import { Writes, type CompactReport, type Complete, type StepOptions } from "./ingest/writes.ts";
import type { IndexProgress, IndexReport } from "./ingest/run/report.ts";
import type { Source } from "./ingest/sources/source.ts";
import { INGEST_TASKS } from "./ingest/tasks.ts";
import { CatalogKeeper } from "./store/catalog/catalog-keeper.ts";
import type { CheckReport } from "./store/upkeep/check.ts";
import { checkInChild } from "./store/upkeep/check-process.ts";
import type { Environment } from "./store/lmdb/environment.ts";
import { openStore } from "./store/catalog/open.ts";
import {
  readSkipped,
  repositoryNamed,
  type Catalog,
  type CatalogRepository,
} from "./store/catalog/catalog.ts";
import { viewOf, type View } from "./store/catalog/view.ts";
import { checkDocuments, mergeDocuments, type CheckedDocument } from "./overlay/documents.ts";
import { OVERLAY_TASKS } from "./overlay/layer-task.ts";
import { Overlays } from "./overlay/overlays.ts";
import type { RepositoryRecord } from "./store/format/records.ts";
import { yieldTurn, newPause } from "./base/yield.ts";
import { Kept } from "./search/caller/kept.ts";
import { Near } from "./search/caller/near.ts";
import { KeptTables } from "./store/segments/kept-tables.ts";
import { MOST_CACHE_BYTES } from "./store/segments/text-cache.ts";
import type { ThreadOptions } from "./store/lmdb/thread-environment.ts";
import type { SearcherOptions, ViewSource } from "./search/caller/attempts.ts";
import { Searcher } from "./search/caller/searcher.ts";
import { WarmUp } from "./search/caller/warm-up.ts";
import type { Contexts } from "./search/caller/understand.ts";
import { NOT_INDEXED, type KnowsNotIndexed } from "./search/caller/not-indexed.ts";
import { BEGIN_ANSWER, type BeginsAnswers } from "./search/caller/long-answer.ts";
import { defaultWebUrl, type WebUrl } from "./search/caller/present.ts";
import {
  checkSearchOptions,
  checkViewer,
  type SearchOptions,
  type SearchRequest,
  type Viewer,
} from "./search/messages/request.ts";
import type { Explanation, SearchEvent, SearchResponse } from "./search/messages/response.ts";
import { isVisible } from "./search/caller/scope.ts";
import { NearThread } from "./search/thread/near-thread.ts";
import { SEARCH_TASKS, type SearchEnvironment } from "./search/thread/tasks.ts";
import {
  UP_TO_DATE,
  type KnowsWhatIsNew,
  type Workspace,
  type WorkspaceEngine,
  type WorkspaceOptions,
} from "./workspace/workspace.ts";
import { Histories, OPEN_HISTORY, type OpensHistory } from "./history/histories.ts";
import type { FoundFile } from "./history/shared.ts";
import type { History } from "./history/history.ts";
import { createPool, type OwnPool } from "./threads/pool.ts";
import { Reader } from "./reader.ts";
import { OBSERVE, Tracer, type IndexSize, type Observable } from "./tracing.ts";
import { textBytesOf, type Manifest } from "./store/catalog/manifest.ts";
import {
  KNOWN_REPOSITORIES,
  knownRepositories,
  lookUp,
  type KnowsRepositories,
} from "./repositories.ts";
import {
  ALL_PATHS,
  type FileContent,
  type FolderEntry,
  type KnowsPaths,
  type Repository,
} from "./repository.ts";

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
  /** Lists only repositories whose name or display name contains this text, in any case. Default: all. */
  query?: string;
  /**
   * Lists only names after this one, compared by UTF-16 code units. The name need not exist. Default: from the first.
   */
  after?: string;
  /** The most repositories to list. Default: all. */
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
   * yields every 5 ms.
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

const INDEX_OPTIONS: KeysOf<IndexOptions> = { signal: true, onProgress: true, symbols: true };

const MIB = 2 ** 20;
/**
 * Milliseconds that an index run may work before it yields. It is short because the next step, such as a table of a
 * segment, may take another 3 ms.
 */
const STEP_MS = 0.5;

/**
 * Opens a data directory. Creates it if it does not exist; with `readOnly`, throws INDEX_NOT_FOUND instead. Takes no
 * lock.
 *
 * @example
 * const engine = await open("./index");
 * await engine.index(directory("./src"));
 * const { files } = await engine.search({ query: "todo or fixme", matches: 20 });
 * await engine.close();
 */
export function open(path: string, options: OpenOptions = {}): Promise<Engine> {
  return openPartial(path, options, undefined);
}

/** Opens a data directory that may have only the tables of some segments. REQUIRES: nobody searches it, if it has. */
export async function openPartial(
  path: string,
  options: OpenOptions,
  complete: Complete | undefined,
): Promise<Engine> {
  const checked = checkOptions(path, options);
  const environment = await openStore(resolve(path), { readOnly: checked.readOnly });
  await yieldTurn(); // the following code compiles the kernel, which takes 2 ms
  try {
    return new OpenedEngine(environment, checked, complete);
  } catch (error) {
    await environment.close(); // there was not enough memory for its text cache
    throw error;
  }
}

const OPEN_OPTIONS: KeysOf<OpenOptions> = {
  readOnly: true,
  workers: true,
  memoryBudget: true,
  textCache: true,
  warmUp: true,
  maxFileSize: true,
  lockTimeoutMs: true,
  webUrl: true,
  contexts: true,
  onWarning: true,
};

type Checked = Required<Omit<OpenOptions, "contexts">> & { contexts: Contexts | undefined };

function checkOptions(path: string, options: OpenOptions): Checked {
  if (typeof path !== "string" || path === "")
    throw invalid("open: the path of the data directory must be a non-empty string");
  checkKeys({ call: "open", what: "option" }, options, OPEN_OPTIONS);
  return {
    readOnly: options.readOnly ?? false,
    workers: within("workers", options.workers ?? Math.min(availableParallelism(), 4), 0, 256),
    memoryBudget: within(
      "memoryBudget",
      options.memoryBudget ?? 256 * MIB,
      32 * MIB,
      Number.MAX_SAFE_INTEGER,
    ),
    textCache: within("textCache", options.textCache ?? 0, 0, MOST_CACHE_BYTES),
    warmUp: options.warmUp ?? true,
    maxFileSize: within("maxFileSize", options.maxFileSize ?? 2 * MIB, 1, 16 * MIB),
    lockTimeoutMs: within("lockTimeoutMs", options.lockTimeoutMs ?? 0, 0, Number.MAX_SAFE_INTEGER),
    webUrl: options.webUrl ?? defaultWebUrl,
    contexts: options.contexts,
    onWarning: options.onWarning ?? (() => {}),
  };
}

function within(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw invalid(`open: ${mustBe(name, wholeNumber(least, most), value)}`);
}

const FILE = { repository: true, path: true, revision: true } as const;

function viewerOf(call: string, options: { viewer?: Viewer }): Viewer | undefined {
  checkKeys({ call, what: "option" }, options, { viewer: true });
  checkViewer(call, options.viewer);
  return options.viewer;
}

function checkReadOptions(call: string, options: ReadOptions): ReadOptions {
  checkKeys({ call, what: "option" }, options, { viewer: true, overlay: true });
  checkViewer(call, options.viewer);
  return options;
}

const invalid = (message: string): QuernError => new QuernError("INVALID_REQUEST", message);

const REPOSITORIES_OPTIONS: KeysOf<RepositoriesOptions> = {
  viewer: true,
  query: true,
  after: true,
  limit: true,
};

/**
 * The key of a method of an open engine that returns an engine whose answers include the unindexed changes of some
 * workspaces. Not part of the public interface: `quern mcp` uses it.
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
 * The key under which an open engine provides the parts that it consists of. Not part of the public interface:
 * quern/cluster uses it for directories that hold slices of an index.
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

class OpenedEngine
  implements
    Engine,
    HasParts,
    KnowsNotIndexed,
    KnowsPaths,
    KnowsRepositories,
    OpensHistory,
    BeginsAnswers,
    GivesFresh,
    Observable
{
  readonly path: string;
  readonly [PARTS]: HasParts[typeof PARTS];
  readonly [KNOWN_REPOSITORIES]: KnowsRepositories[typeof KNOWN_REPOSITORIES];
  readonly #environment: Environment;
  readonly #catalogs: CatalogKeeper;
  readonly #pool: OwnPool;
  readonly #warmUp: WarmUp | undefined;
  readonly #kept: Kept;
  readonly #nearThread: NearThread;
  readonly #near: Near | undefined;
  readonly #searcher: Searcher;
  readonly #writes: Writes;
  readonly #overlays: Overlays;
  readonly #histories: Histories;
  readonly #options: Checked;
  readonly #workspaces = new Set<Workspace>();
  readonly #tables = new KeptTables();
  readonly #reader: Reader;
  readonly #tracer: Tracer;
  #closed: Promise<void> | undefined;

  constructor(environment: Environment, options: Checked, complete: Complete | undefined) {
    this.path = environment.path;
    this.#environment = environment;
    this.#options = options;
    this.#tracer = new Tracer(this.path);
    this.#kept = new Kept(options.textCache);
    this.#pool = startPool(environment, options, {
      kept: this.#kept,
      workerDied: () => this.#tracer.workerDied(),
    });
    this.#nearThread = new NearThread(() => this.#kept.listsMemory);
    // without threads, the calling thread searches everything
    this.#near = this.#pool.inline ? undefined : new Near(this.#nearThread, this.#pool);
    this.#catalogs = new CatalogKeeper(environment, newPause, ({ manifest }) => {
      this.#kept.dropOthers(manifest.segments);
      this.#nearThread.dropOthers(manifest.segments);
    });
    this.#searcher = this.#newSearcher(options.onWarning);
    this.#warmUp = this.#newWarmUp();
    this.#overlays = new Overlays({
      pool: this.#pool,
      maxFileSize: options.maxFileSize,
      newest: () => this.#catalogs.newest(),
      tables: this.#tables,
      reading: (read) => this.#reader.reading(read),
    });
    this.#histories = new Histories({
      present: (record, file) => this.#present(record, file),
    });
    this.#writes = new Writes({
      environment,
      pool: this.#pool,
      catalogs: this.#catalogs,
      tables: this.#tables,
      maxFileSize: options.maxFileSize,
      memoryBudget: options.memoryBudget,
      lockTimeoutMs: options.lockTimeoutMs,
      pause: () => newPause({ ms: STEP_MS }),
      oldestHeld: () => this.#searcher.oldestHeld,
      onWarning: options.onWarning,
      complete,
    });
    const newest = () => this.#catalogs.newest();
    const indexing = () => this.#writes.indexing;
    this.#reader = new Reader({ environment, newest, indexing, webUrl: options.webUrl });
    this[KNOWN_REPOSITORIES] = knownRepositories(newest, indexing);
    const searching = this.#searching(options.onWarning);
    this[PARTS] = { environment, newest, searching, reader: this.#reader };
  }

  #newSearcher(onWarning: Checked["onWarning"]): Searcher {
    return new Searcher(this.#searching(onWarning));
  }

  #searching(onWarning: Checked["onWarning"]): SearcherOptions {
    const { webUrl, contexts } = this.#options;
    return {
      pool: this.#pool,
      view: async () => viewOf(await this.#catalogs.newest()),
      webUrl,
      contexts,
      onWarning,
      lists: () => this.#kept.listsFor(this.#pool),
      near: this.#near,
      indexing: () => this.#writes.indexing,
      skipped: (repository) =>
        this.#reader.reading((snapshot) => readSkipped(snapshot, repository, newPause())),
    };
  }

  /** Makes the warm-up. Without workers there is none, because the calling thread has other work. */
  #newWarmUp(): WarmUp | undefined {
    if (!this.#options.warmUp || this.#pool.inline) return undefined;
    // the host's searches report damage; these need not
    const searcher = new Searcher({ ...this.#searching(() => {}), near: undefined });
    return new WarmUp({
      hasContent: async () => (await this.#catalogs.newest()).manifest.segments.length > 0,
      isIdle: () => this.#pool.isIdle && this.#searcher.oldestHeld === Infinity,
      search: (request, how) => searcher.search(request, how),
    });
  }

  get generation(): number {
    return this.#catalogs.generation;
  }

  get [OBSERVE](): Observable[typeof OBSERVE] {
    return {
      add: (observer) => this.#tracer.add(observer),
      size: async () => sizeOf((await this.#catalogs.newest()).manifest),
    };
  }

  async index(
    source: Source | Iterable<Source> | AsyncIterable<Source>,
    options: IndexOptions = {},
  ): Promise<IndexReport[]> {
    this.#mustBeOpen();
    checkKeys({ call: "index", what: "option" }, options, INDEX_OPTIONS);
    if (!["after", "skip", undefined].includes(options.symbols))
      throw invalid(`index: symbols must be "after" or "skip"`);
    return this.#tracer.write(
      "index",
      () => this.#writes.index(source, options),
      (reports) => ({ reports }),
    );
  }

  async search(request: SearchRequest, options: SearchOptions = {}): Promise<SearchResponse> {
    this.#mustBeOpen();
    return this.#search(request, options, []);
  }

  async #search(
    request: SearchRequest,
    options: SearchOptions,
    below: readonly CheckedDocument[],
    onView: (view: View) => void = () => {},
  ): Promise<SearchResponse> {
    this.#mustBeOpen();
    checkSearchOptions("search", options);
    const newest = this.#viewSource(options, below);
    const toldView = async () => {
      const view = await newest();
      onView(view);
      return view;
    };
    return this.#tracer.search(request, () => this.#searcher.search(request, options, toldView));
  }

  /** Searches, and returns the generation of the index that the answer shows. */
  async #searchWithGeneration(
    request: SearchRequest,
    options: SearchOptions,
    documents: readonly CheckedDocument[],
  ) {
    let generation = 0;
    const onView = ({ catalog }: View) => void (generation = catalog.manifest.generation);
    const response = await this.#search(request, options, documents, onView);
    return { response, generation };
  }

  get [BEGIN_ANSWER](): BeginsAnswers[typeof BEGIN_ANSWER] {
    return {
      insteadOf: Reflect.get(OpenedEngine.prototype, "search") as Engine["search"],
      begin: async (request, options) => {
        this.#mustBeOpen();
        checkSearchOptions("search", options);
        const view = this.#viewSource(options);
        return this.#tracer.begin(request, () => this.#searcher.begin(request, options, view));
      },
    };
  }

  stream(request: SearchRequest, options: SearchOptions = {}): AsyncIterable<SearchEvent> {
    this.#mustBeOpen();
    return this.#stream(request, options, []);
  }

  #stream(
    request: SearchRequest,
    options: SearchOptions,
    below: readonly CheckedDocument[],
  ): AsyncIterable<SearchEvent> {
    this.#mustBeOpen();
    checkSearchOptions("stream", options);
    const view = this.#viewSource(options, below);
    return this.#tracer.stream(request, this.#searcher.stream(request, options, view));
  }

  async explain(request: SearchRequest, options: SearchOptions = {}): Promise<Explanation> {
    this.#mustBeOpen();
    checkSearchOptions("explain", options);
    return this.#explain(request, options, this.#viewSource(options));
  }

  #explain(request: SearchRequest, options: SearchOptions, view: ViewSource): Promise<Explanation> {
    return this.#tracer.explain(request, () => this.#searcher.explain(request, options, view));
  }

  async [NOT_INDEXED](
    request: SearchRequest,
    options: SearchOptions,
  ): Promise<Explanation["notIndexed"]> {
    this.#mustBeOpen();
    return this.#searcher.notIndexed(request, options, this.#viewSource(options));
  }

  /**
   * Makes the source of views. A view is the newest generation, with `below` laid over it, and the overlay on top. If
   * a viewer may not see a repository, the view leaves out a workspace's changes to it. The overlay is checked
   * immediately, and read once.
   */
  #viewSource(
    { overlay, viewer }: Pick<SearchOptions, "overlay" | "viewer">,
    below: readonly CheckedDocument[] = [],
  ): ViewSource {
    const given = overlay && checkDocuments(overlay);
    const sees = (one: CatalogRepository) => isVisible(one, viewer);
    return async () => {
      const seen = viewer && below.length > 0 ? await this.#visible(below, sees) : below;
      return this.#overlays.view(given ? mergeDocuments(seen, given) : seen, sees);
    };
  }

  async #visible(
    documents: readonly CheckedDocument[],
    sees: (one: CatalogRepository) => boolean,
  ): Promise<readonly CheckedDocument[]> {
    const catalog = await this.#catalogs.newest();
    return documents.filter(({ repository }) => {
      const one = repositoryNamed(catalog, repository);
      return one && sees(one);
    });
  }

  async workspace(path: string, options: WorkspaceOptions = {}): Promise<Workspace> {
    this.#mustBeOpen();
    const { openWorkspace } = await import("./workspace/workspace.ts");
    const workspace = await openWorkspace(this.#forWorkspaces(), path, options);
    this.#workspaces.add(workspace);
    if (this.#closed) await workspace.close();
    return workspace;
  }

  [FRESH](workspaces: () => readonly Workspace[]): FreshEngine {
    const news = async (signal?: AbortSignal): Promise<readonly CheckedDocument[]> => {
      const all = workspaces() as readonly (Workspace & KnowsWhatIsNew)[];
      return (await Promise.all(all.map((one) => one[UP_TO_DATE](signal)))).flat();
    };
    const view = async (options: SearchOptions) =>
      this.#viewSource(options, await news(options.signal));
    return {
      search: async (request, options = {}) =>
        this.#search(request, options, await news(options.signal)),
      explain: async (request, options = {}) => {
        checkSearchOptions("explain", options);
        return this.#explain(request, options, await view(options));
      },
      [NOT_INDEXED]: async (request, options) =>
        this.#searcher.notIndexed(request, options, await view(options)),
      read: async (file, options = {}) => this.#read(file, options, await news()),
      list: async (folder, options = {}) =>
        this.#reader.list(folder, options.viewer, await (await view(options))()),
      repository: (nameOrId, options) => this.repository(nameOrId, options),
      repositories: (options) => this.repositories(options),
      [KNOWN_REPOSITORIES]: this[KNOWN_REPOSITORIES],
      history: (name, options) => this.history(name, options),
      [OPEN_HISTORY]: (name, options) => this[OPEN_HISTORY](name, options),
    };
  }

  /** Returns the part of this engine that a workspace may use. */
  #forWorkspaces(): WorkspaceEngine {
    return {
      path: this.path,
      maxFileSize: this.#options.maxFileSize,
      index: (source, options) => this.index(source, options),
      search: (...asked) => this.#searchWithGeneration(...asked),
      stream: (request, options, documents) => this.#stream(request, options, documents),
      read: (file, documents) => this.#read(file, {}, documents),
      release: (repository) => this.#overlays.release(repository),
    };
  }

  async repository(
    nameOrId: string | number,
    options: { viewer?: Viewer } = {},
  ): Promise<Repository | undefined> {
    this.#mustBeOpen();
    return this.#reader.repository(nameOrId, viewerOf("repository", options));
  }

  async repositories(options: RepositoriesOptions = {}): Promise<Repository[]> {
    this.#mustBeOpen();
    checkKeys({ call: "repositories", what: "option" }, options, REPOSITORIES_OPTIONS);
    checkViewer("repositories", options.viewer);
    return this.#reader.repositories(options);
  }

  async read(
    file: { repository: string; path: string; revision?: string },
    options: ReadOptions = {},
  ): Promise<FileContent | undefined> {
    this.#mustBeOpen();
    checkKeys({ call: "read", what: "field" }, file, FILE);
    return this.#read(file, checkReadOptions("read", options), []);
  }

  async #read(
    file: { repository: string; path: string; revision?: string },
    options: ReadOptions,
    below: readonly CheckedDocument[],
  ): Promise<FileContent | undefined> {
    this.#mustBeOpen();
    return this.#reader.read(file, options.viewer, await this.#viewSource(options, below)());
  }

  #present(record: RepositoryRecord, file: FoundFile): Promise<FileContent> {
    return this.#reader.present(record, file);
  }

  async history(name: string, options: { viewer?: Viewer } = {}): Promise<History | undefined> {
    const record = await this.#record(name, options);
    return record && this.#histories.find(record);
  }

  async [OPEN_HISTORY](name: string, options: { viewer?: Viewer }): Promise<History | undefined> {
    const record = await this.#record(name, options);
    return record && this.#histories.open(record);
  }

  async #record(repository: string, options: { viewer?: Viewer }) {
    this.#mustBeOpen();
    if (typeof repository !== "string") throw invalid("history: the repository must be a string");
    const found = lookUp(await this.#catalogs.newest(), repository, viewerOf("history", options));
    return found?.record;
  }

  async list(
    folder: { repository: string; path: string; revision?: string },
    options: ReadOptions = {},
  ): Promise<FolderEntry[] | undefined> {
    this.#mustBeOpen();
    checkKeys({ call: "list", what: "field" }, folder, FILE);
    const checked = checkReadOptions("list", options);
    return this.#reader.list(folder, checked.viewer, await this.#viewSource(checked)());
  }

  async [ALL_PATHS](
    revision: { repository: string; revision?: string },
    options: { viewer?: Viewer },
  ): Promise<string[] | undefined> {
    this.#mustBeOpen();
    return this.#reader.paths(revision, options.viewer, await this.#viewSource({})());
  }

  async remove(repository: string, steps: StepOptions = {}): Promise<boolean> {
    this.#mustBeOpen();
    if (typeof repository !== "string") throw invalid("remove: the repository must be a string");
    return this.#tracer.write("remove", () => this.#writes.remove(repository, steps));
  }

  async compact(
    options: { signal?: AbortSignal; onProgress?: (progress: IndexProgress) => void } = {},
  ): Promise<CompactReport> {
    this.#mustBeOpen();
    checkKeys({ call: "compact", what: "option" }, options, { signal: true, onProgress: true });
    return this.#tracer.write("compact", () => this.#writes.compact(options));
  }

  async check(options: { signal?: AbortSignal } = {}): Promise<CheckReport> {
    this.#mustBeOpen();
    checkKeys({ call: "check", what: "option" }, options, { signal: true });
    return checkInChild(packageFile("check.js"), this.path, options.signal);
  }

  trim(): void {
    this.#mustBeOpen();
    this.#nearThread.trim();
    this.#tables.clear();
    void this.#kept.trim(this.#pool);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.#warmUp?.close();
    await Promise.all(Array.from(this.#workspaces, (workspace) => workspace.close()));
    // writes end first: a thread that is terminated within a transaction would keep LMDB's lock
    await Promise.all([this.#writes.close(), this.#histories.close()]);
    this.#nearThread.close();
    await this.#pool.stop();
    await Promise.allSettled([this.#catalogs.close(), this.#reader.close()]);
    await this.#environment.close(() => this.#pool.close());
    this.#kept.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #mustBeOpen(): void {
    if (this.#closed) throw closedError();
  }
}

function sizeOf(manifest: Manifest): IndexSize {
  const { repositories, segments } = manifest;
  return {
    repositories: repositories.length,
    segments: segments.length,
    files: segments.reduce((sum, { files }) => sum + files, 0),
    textBytes: textBytesOf(manifest),
  };
}

function startPool(
  environment: Environment,
  { workers, readOnly, onWarning }: Checked,
  { kept, workerDied }: { readonly kept: Kept; readonly workerDied: () => void },
): OwnPool {
  const { path } = environment;
  return createPool({
    size: workers,
    entry: packageFile("worker.js"),
    tasks: { ...INGEST_TASKS, ...SEARCH_TASKS, ...OVERLAY_TASKS },
    environment:
      workers === 0
        ? inline(environment, readOnly, kept)
        : {
            path,
            readOnly,
            get textCache() {
              return kept.text;
            },
            get keptLists() {
              return kept.listsMemory;
            },
          },
    // only the pool warns of dead workers
    onWarning: (warning) => {
      workerDied();
      onWarning(warning);
    },
  });
}

const inline = (
  opened: Environment,
  readOnly: boolean,
  kept: Kept,
): ThreadOptions & SearchEnvironment => ({
  path: opened.path,
  readOnly,
  opened,
  textCache: kept.text,
  keptLists: kept.listsMemory,
});
