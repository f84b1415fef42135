/**
 * Implements the core of one machine's engine. Creates the parts of store, ingest and search, connects them, and closes
 * them. It contains no other logic.
 */

import { lazily } from "./base/out-of-files.ts";
import { packageFile } from "./base/package-file.ts";
import { newPause } from "./base/yield.ts";
import type { EngineCore, CoreView, RepositoryLists } from "./engine-core.ts";
import type { OpenOptions } from "./engine.ts";
import { EngineFacade } from "./engine-facade.ts";
import { CHANGE_TASKS } from "./changes/tasks.ts";
import { FIND_TASKS } from "./find/tasks.ts";
import { Histories } from "./history/histories.ts";
import type { History } from "./history/history.ts";
import { INGEST_TASKS } from "./ingest/tasks.ts";
import { Writes } from "./ingest/writes.ts";
import type { Internals } from "./internals.ts";
import { NAVIGATION_TASKS } from "./navigation/tasks.ts";
import { checkDocuments, mergeDocuments, type CheckedDocument } from "./overlay/documents.ts";
import type { Hiding, HidingView } from "./overlay/hiding.ts";
import type { HiddenText } from "./overlay/mask.ts";
import { OVERLAY_TASKS } from "./overlay/layer-task.ts";
import { Overlays } from "./overlay/overlays.ts";
import { Reader } from "./reader.ts";
import type { Repository } from "./repository.ts";
import { knownRepositories, lookUp } from "./repositories.ts";
import { mayBeHistory, type HistoryQuery } from "./query/parse.ts";
import { SearchMemory } from "./search/caller/search-memory.ts";
import { Near } from "./search/caller/near.ts";
import { isVisible } from "./search/caller/scope.ts";
import { explain, notIndexedOf } from "./search/caller/explain.ts";
import { beginSearch, search } from "./search/caller/search.ts";
import {
  Searching,
  type SearchCall,
  type SearchParts,
  type ViewSource,
} from "./search/caller/searching.ts";
import { streamFiles } from "./search/caller/stream.ts";
import type { Contexts } from "./search/caller/understand.ts";
import { WarmUp } from "./search/caller/warm-up.ts";
import type { SearchOptions, SearchRequest, Viewer } from "./search/messages/request.ts";
import type { SearchEvent, SearchResponse } from "./search/messages/response.ts";
import { NearThread } from "./search/thread/near-thread.ts";
import { SEARCH_TASKS } from "./search/thread/tasks.ts";
import { CatalogKeeper } from "./store/catalog/catalog-keeper.ts";
import {
  readSkipped,
  repositoryNamed,
  type Catalog,
  type CatalogRepository,
} from "./store/catalog/catalog.ts";
import { textBytesOf, type Manifest } from "./store/catalog/manifest.ts";
import { viewOf, type View } from "./store/catalog/view.ts";
import type { Environment } from "./store/lmdb/environment.ts";
import { KeptTables } from "./store/segments/kept-tables.ts";
import { checkInChild } from "./store/upkeep/check-process.ts";
import { createPool, type OwnPool } from "./threads/pool.ts";
import { Tracer, type IndexSize } from "./tracing.ts";
import type { FollowedFolder, OverlaidEngine } from "./workspace/workspace.ts";

/**
 * How long an index run works on the calling thread before it yields to the event loop, in milliseconds. This time is
 * short, because a step that has begun, such as reading a table of a segment, may take another 3 ms.
 */
const STEP_MS = 0.5;

/** The options of open() with their defaults. */
export type CoreOptions = Required<Omit<OpenOptions, "contexts">> & {
  readonly contexts: Contexts | undefined;
};

export interface LocalCore extends EngineCore {
  /** The parts that a cluster uses for directories that hold slices of an index. */
  readonly parts: {
    readonly environment: Environment;
    readonly newest: () => Promise<Catalog>;
    readonly searching: SearchParts;
    readonly reader: Reader;
  };
}

/** Documents that views show in addition to the index, below the documents of the overlay. */
interface Below {
  readonly documents: (signal?: AbortSignal) => Promise<readonly CheckedDocument[]>;
  /** Called with each view that a call reads. */
  readonly onView?: (view: View) => void;
}

const workspaceModule = lazily(() => import("./workspace/workspace.ts"));

const backupModule = lazily(() => import("./store/upkeep/backup.ts"));
const findModule = lazily(() => import("./find/answer.ts"));

const hidingModule = lazily(() => import("./overlay/hiding.ts"));

const hiddenHistoryModule = lazily(() => import("./overlay/hidden-history.ts"));

const navigationModule = lazily(() => import("./navigation/answer.ts"));

// loaded with the first query of the history
const changesModule = lazily(() => import("./changes/answer.ts"));

/** Returns whether a request, which is not checked yet, may be a query of the history. */
const mayBe = (request: Partial<SearchRequest> | null | undefined): boolean =>
  mayBeHistory(request?.query);

async function historyQueryOf(request: SearchRequest): Promise<HistoryQuery | undefined> {
  return mayBe(request) ? (await changesModule()).historyQueryOf(request) : undefined;
}

/** Streams the answer of a query that may be one of the history. */
async function* streamEither(
  request: SearchRequest,
  streams: {
    readonly history: (
      query: HistoryQuery,
      changes: Awaited<ReturnType<typeof changesModule>>,
    ) => AsyncIterable<SearchEvent>;
    readonly files: () => AsyncIterable<SearchEvent>;
  },
): AsyncGenerator<SearchEvent> {
  const query = await historyQueryOf(request);
  yield* query ? streams.history(query, await changesModule()) : streams.files();
}

const NOTHING: Below = { documents: async () => [] };

export function localCore(
  environment: Environment,
  options: CoreOptions,
  internals: Internals,
): LocalCore {
  return new LocalEngine(environment, options, internals).core;
}

class LocalEngine {
  readonly core: LocalCore;
  readonly #environment: Environment;
  readonly #options: CoreOptions;
  readonly #internals: Internals;
  readonly #tracer: Tracer;
  readonly #memory: SearchMemory;
  readonly #tables = new KeptTables();
  readonly #pool: OwnPool;
  readonly #nearThread: NearThread;
  readonly #near: Near | undefined;
  readonly #catalogs: CatalogKeeper;
  readonly #searching: Searching;
  readonly #warmUp: WarmUp | undefined;
  readonly #overlays: Overlays;
  readonly #histories: Histories;
  readonly #writes: Writes;
  readonly #reader: Reader;
  readonly #workspaces = new Set<FollowedFolder>();
  #hidings: Promise<Hiding> | undefined;
  readonly #closing = new AbortController();
  #closed: Promise<void> | undefined;

  constructor(environment: Environment, options: CoreOptions, internals: Internals) {
    this.#environment = environment;
    this.#options = options;
    this.#internals = internals;
    this.#tracer = new Tracer(environment.path);
    this.#memory = new SearchMemory({ tableBytes: internals.tableBytes, workers: options.workers });
    this.#pool = startPool(environment, options, {
      searchMemory: this.#memory,
      workerDied: () => this.#tracer.workerDied(),
    });
    this.#nearThread = new NearThread(environment, () => this.#memory.memory);
    // without workers, every search runs on the calling thread anyway
    this.#near = this.#pool.inline ? undefined : new Near(this.#nearThread);
    this.#catalogs = new CatalogKeeper(environment, newPause, ({ manifest }) =>
      this.#memory.dropOthers(manifest.segments),
    );
    this.#searching = new Searching(this.#searchParts(options.onWarning));
    this.#warmUp = this.#newWarmUp();
    this.#overlays = new Overlays({
      pool: this.#pool,
      maxFileSize: options.maxFileSize,
      layout: internals.layout,
      newest: () => this.#catalogs.newest(),
      tables: this.#tables,
      reading: (read) => this.#reader.reading(read),
    });
    this.#histories = new Histories({
      present: (record, file) => this.#reader.present(record, file),
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
      oldestHeld: () => this.#searching.oldestHeld,
      onWarning: options.onWarning,
      complete: internals.complete,
      retireMs: internals.retireMs,
      bounds: internals.runs,
      layout: internals.layout,
    });
    const newest = () => this.#catalogs.newest();
    const indexing = () => this.#writes.indexing;
    this.#reader = new Reader({ environment, newest, indexing, webUrl: options.webUrl });
    const { parts: searching } = this.#searching;
    this.core = this.#makeCore({ environment, newest, searching, reader: this.#reader });
  }

  #makeCore(parts: LocalCore["parts"]): LocalCore {
    const tracer = this.#tracer;
    const writes = this.#writes;
    const environment = this.#environment;
    const { path } = environment;
    const core: LocalCore = {
      path,
      parts,
      generation: () => this.#catalogs.generation,
      view: (options) => this.#view(options, NOTHING),
      repositories: this.#lists(parts),
      history: (name, viewer) => this.#history(name, viewer),
      index: (source, options) =>
        tracer.write(
          "index",
          () => writes.index(source, options),
          (reports) => ({ reports }),
        ),
      remove: (name, steps) => tracer.write("remove", () => writes.remove(name, steps)),
      compact: (options) => tracer.write("compact", () => writes.compact(options)),
      backup: async (target, { signal, ...options }) => {
        const { backUp } = await backupModule();
        return backUp(target, options, {
          environment,
          whileUnchanged: (work) => writes.whileUnchanged(signal, work),
          check: (copy, stop) => checkInChild(packageFile("check.js"), copy, stop),
        });
      },
      workspace: (folder, options) => this.#workspace(folder, options),
      upToDate: () => {
        const documents = (signal?: AbortSignal) => this.#unindexed(signal);
        return this.#showing(core, { documents });
      },
      without: (hidden) => this.#hiding(core, NOTHING, hidden),
      check: ({ signal }) => checkInChild(packageFile("check.js"), path, signal),
      trim: () => this.#trim(),
      observed: {
        add: (observer) => tracer.add(observer),
        size: async () => sizeOf((await parts.newest()).manifest),
      },
      reach: undefined, // the newest generation is always here
      metrics: async () => [],
      isClosed: () => this.#closed !== undefined,
      close: () => (this.#closed ??= this.#close()),
    };
    return core;
  }

  #searchParts(onWarning: CoreOptions["onWarning"]): SearchParts {
    const { webUrl, contexts } = this.#options;
    return {
      pool: this.#pool,
      webUrl,
      contexts,
      closing: this.#closing.signal,
      onWarning,
      makeRoom: () => this.#memory.makeRoom(this.#pool),
      near: this.#near,
      indexing: () => this.#writes.indexing,
      skipped: (repository) =>
        this.#reader.reading((snapshot) => readSkipped(snapshot, repository, newPause())),
    };
  }

  /**
   * Creates the warm-up, unless the host has turned it off. Without workers there is no warm-up, because its searches
   * would block the calling thread.
   */
  #newWarmUp(): WarmUp | undefined {
    if (!this.#options.warmUp || this.#pool.inline) return undefined;
    // damage is not reported here, because the host's own searches report it
    const searching = new Searching(this.#searchParts(() => {}));
    const view = async () => viewOf(await this.#catalogs.newest());
    return new WarmUp({
      hasContent: async () => (await this.#catalogs.newest()).manifest.segments.length > 0,
      isIdle: () => this.#pool.isIdle && this.#searching.oldestHeld === Infinity,
      search: (request, options) => search(searching, { request, options, view }),
    });
  }

  /**
   * Returns a view of the newest generation. In the view, the documents of `below` replace indexed files, and the
   * documents of the overlay replace both.
   */
  #view(options: SearchOptions, below: Below, hidden?: HiddenText): CoreView {
    const searching = this.#searching;
    const reader = this.#reader;
    const { viewer } = options;
    const all = this.#viewSource(options, below);
    const source = hidden ? async () => (await this.#hidden(all, hidden)).view : all;
    const call = (request: SearchRequest) => ({ request, options, view: source });
    const tools = { searching, environment: this.#environment };
    const view: CoreView = {
      search: async (request, ifMany) =>
        (await this.#searchHistory(call(request), hidden)) ??
        search(searching, call(request), ifMany),
      begin: async (request) =>
        (await this.#searchHistory(call(request), hidden)) ?? beginSearch(searching, call(request)),
      stream: (request) =>
        mayBe(request)
          ? streamEither(request, {
              history: (query, changes) => changes.streamChanges(query, call(request), tools),
              files: () => streamFiles(searching, call(request)),
            })
          : streamFiles(searching, call(request)),
      explain: async (request) => {
        const query = await historyQueryOf(request);
        if (query) return (await changesModule()).explainChanges(query, call(request), tools);
        return explain(searching, call(request));
      },
      find: async (request) => {
        const { answerFind } = await findModule();
        return answerFind(searching, request, { options, view: source });
      },
      navigate: async (question) => {
        const { answerNavigation } = await navigationModule();
        return answerNavigation(searching, question, { options, view: source });
      },
      streamUses: async function* (question) {
        const { streamNavigation } = await navigationModule();
        yield* streamNavigation(searching, question, { options, view: source });
      },
      notIndexed: (request) => notIndexedOf(searching, call(request)),
      read: async (file) => reader.read(file, viewer, await source()),
      list: async (folder) => reader.list(folder, viewer, await source()),
      paths: async (revision) => reader.paths(revision, viewer, await source()),
    };
    return this.#tracer.view(view, () => this.#warmUp?.interrupt());
  }

  /** Answers a query of the history. Resolves to undefined if the query is an ordinary one. */
  async #searchHistory(
    call: SearchCall,
    hidden: HiddenText | undefined,
  ): Promise<SearchResponse | undefined> {
    const query = await historyQueryOf(call.request);
    if (!query) return undefined;
    const { searchChanges } = await changesModule();
    const tools = { searching: this.#searching, environment: this.#environment };
    const response = await searchChanges(query, call, tools);
    return hidden ? (await hiddenHistoryModule()).hidingChanges(response, hidden) : response;
  }

  /** Documents of `below` are left out if the viewer may not see their repository. */
  #viewSource({ overlay, viewer, signal }: SearchOptions, below: Below): ViewSource {
    const given = overlay && checkDocuments(overlay);
    const sees = (one: CatalogRepository) => isVisible(one, viewer);
    let documents: Promise<readonly CheckedDocument[]> | undefined;
    return async () => {
      const all = await (documents ??= below.documents(signal));
      const seen = viewer && all.length > 0 ? await this.#visible(all, sees) : all;
      const view = await this.#overlays.view(given ? mergeDocuments(seen, given) : seen, sees);
      below.onView?.(view);
      return view;
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

  #lists({ newest, reader }: LocalCore["parts"]): RepositoryLists {
    return {
      ...knownRepositories(newest, () => this.#writes.indexing),
      describe: (nameOrId, viewer) => reader.repository(nameOrId, viewer),
      describeAll: (page) => reader.repositories(page),
    };
  }

  async #history(name: string, viewer: Viewer | undefined): Promise<History | undefined> {
    const found = lookUp(await this.#catalogs.newest(), name, viewer);
    return found && this.#histories.open(found.record);
  }

  // ── workspaces ──

  async #workspace(
    path: string,
    options: Parameters<LocalCore["workspace"]>[1],
  ): Promise<FollowedFolder> {
    const { openWorkspace } = await workspaceModule();
    const { workspaces: bounds, notices } = this.#internals;
    const workspace = await openWorkspace(
      {
        path: this.#environment.path,
        maxFileSize: this.#options.maxFileSize,
        bounds,
        notices,
        index: (source, how) => this.core.index(source, how),
        over: (documents) => this.#over(documents),
        release: (repository) => this.#overlays.release(repository),
        onClose: (closed) => void this.#workspaces.delete(closed),
      },
      path,
      options,
    );
    this.#workspaces.add(workspace);
    if (this.#closed) await workspace.close();
    return workspace;
  }

  /** Returns an engine whose views show the documents above the index. */
  #over(documents: readonly CheckedDocument[]): OverlaidEngine {
    let generation = 0;
    const below: Below = {
      documents: async () => documents,
      onView: ({ catalog }) => void (generation = catalog.manifest.generation),
    };
    const core = this.#showing(this.core, below);
    return { engine: new EngineFacade(core), generation: () => generation };
  }

  /** Returns a core whose views show documents above the index. */
  #showing(core: EngineCore, below: Below): EngineCore {
    return {
      ...core,
      view: (options) => this.#view(options, below),
      without: (hidden) => this.#hiding(core, below, hidden),
    };
  }

  // ── hidden files and texts ──

  #hiding(core: EngineCore, below: Below, hidden: HiddenText): EngineCore {
    const { repositories } = core;
    const all = this.#viewSource({}, below);
    const described = async (found: readonly Repository[]): Promise<Repository[]> => {
      const { hidingRepository } = await hiddenHistoryModule();
      const { hiddenFiles } = await this.#hidden(all, hidden);
      return found.map((one) => hidingRepository(one, hidden, hiddenFiles.get(one.id)));
    };
    return {
      ...core,
      view: (options) => this.#view(options, below, hidden),
      repositories: {
        ...repositories,
        describe: async (nameOrId, viewer) => {
          const found = await repositories.describe(nameOrId, viewer);
          return found && (await described([found]))[0];
        },
        describeAll: async (page) => described(await repositories.describeAll(page)),
      },
      history: async (name, viewer) => {
        const found = await core.history(name, viewer);
        return found && (await hiddenHistoryModule()).hidingHistory(found, hidden);
      },
    };
  }

  /** Resolves to the newest view without what is hidden. Tries again if the state is gone before it was searched. */
  async #hidden(source: ViewSource, hidden: HiddenText): Promise<HidingView> {
    for (;;) {
      const view = await source();
      try {
        return await (await (this.#hidings ??= this.#newHiding())).over(view, hidden);
      } catch (error) {
        const newest = await this.#catalogs.newest();
        if (newest.manifest.generation === view.catalog.manifest.generation) throw error;
      }
    }
  }

  async #newHiding(): Promise<Hiding> {
    const { Hiding } = await hidingModule();
    return new Hiding({
      overlays: this.#overlays,
      search: (view, request) =>
        search(this.#searching, { request, options: {}, view: async () => view }),
      read: (view, file) => this.#reader.read(file, undefined, view),
    });
  }

  /** Resolves to the changes in all open workspaces that are not indexed yet. */
  async #unindexed(signal: AbortSignal | undefined): Promise<readonly CheckedDocument[]> {
    const all = Array.from(this.#workspaces, (workspace) => workspace.upToDate(signal));
    return (await Promise.all(all)).flat();
  }

  // ── the end ──

  #trim(): void {
    this.#nearThread.trim();
    this.#tables.clear();
    void this.#memory.trim(this.#pool);
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    await this.#warmUp?.close();
    await Promise.all(Array.from(this.#workspaces, (workspace) => workspace.close()));
    // all writes end first, because a thread that is terminated within a transaction would never release LMDB's lock
    await Promise.all([this.#writes.close(), this.#histories.close()]);
    this.#nearThread.close();
    await this.#pool.stop();
    await Promise.allSettled([this.#catalogs.close(), this.#reader.close()]);
    await this.#environment.close(() => this.#pool.close());
    this.#memory.close();
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
  { workers, readOnly, onWarning }: CoreOptions,
  {
    searchMemory,
    workerDied,
  }: { readonly searchMemory: SearchMemory; readonly workerDied: () => void },
): OwnPool {
  const { path } = environment;
  return createPool({
    size: workers,
    entry: packageFile("worker.js"),
    tasks: {
      ...INGEST_TASKS,
      ...SEARCH_TASKS,
      ...FIND_TASKS,
      ...CHANGE_TASKS,
      ...NAVIGATION_TASKS,
      ...OVERLAY_TASKS,
    },
    environment:
      workers === 0
        ? { path, readOnly, opened: environment, shared: searchMemory.memory }
        : {
            path,
            readOnly,
            get shared() {
              return searchMemory.memory;
            },
          },
    // the pool's only warnings are those about dead workers
    onWarning: (warning) => {
      workerDied();
      onWarning(warning);
    },
  });
}
