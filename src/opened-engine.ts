/**
 * Opens a data directory for a host. An opened engine creates the parts of store, ingest and search, connects them,
 * and closes them. It contains no other logic.
 */

import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { packageFile } from "./base/package-file.ts";
import { closedError, QuernError } from "./base/errors.ts";
import { checkKeys, type KeysOf } from "./base/known-keys.ts";
import { mustBe, wholeNumber } from "./base/must-be.ts";
import { Writes, type CompactReport, type StepOptions } from "./ingest/writes.ts";
import { INTERNALS, type Internals } from "./internals.ts";
import type { IndexProgress, IndexReport } from "./ingest/run/report.ts";
import type { Source } from "./ingest/sources/source.ts";
import { INGEST_TASKS } from "./ingest/tasks.ts";
import { OVERLAY_TASKS } from "./overlay/layer-task.ts";
import { CatalogKeeper } from "./store/catalog/catalog-keeper.ts";
import type { CheckReport } from "./store/upkeep/check.ts";
import { checkInChild } from "./store/upkeep/check-process.ts";
import type { Environment } from "./store/lmdb/environment.ts";
import { openStore } from "./store/catalog/open.ts";
import { readSkipped, repositoryNamed, type CatalogRepository } from "./store/catalog/catalog.ts";
import { viewOf, type View } from "./store/catalog/view.ts";
import { checkDocuments, mergeDocuments, type CheckedDocument } from "./overlay/documents.ts";
import { Overlays } from "./overlay/overlays.ts";
import type { RepositoryRecord } from "./store/format/records.ts";
import { yieldTurn, newPause } from "./base/yield.ts";
import { Kept } from "./search/caller/kept.ts";
import { Near } from "./search/caller/near.ts";
import { KeptTables } from "./store/segments/kept-tables.ts";
import { MOST_CACHE_BYTES } from "./store/segments/text-cache.ts";

import type { SearcherOptions, ViewSource } from "./search/caller/attempts.ts";
import { Searcher } from "./search/caller/searcher.ts";
import { WarmUp } from "./search/caller/warm-up.ts";
import type { Contexts } from "./search/caller/understand.ts";
import { NOT_INDEXED, type KnowsNotIndexed } from "./search/caller/not-indexed.ts";
import { BEGIN_ANSWER, type BeginsAnswers } from "./search/caller/long-answer.ts";
import { defaultWebUrl } from "./search/caller/present.ts";
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
import { SEARCH_TASKS } from "./search/thread/tasks.ts";
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
import {
  type Engine,
  type ReadOptions,
  type RepositoriesOptions,
  type IndexOptions,
  type OpenOptions,
  FRESH,
  type GivesFresh,
  type FreshEngine,
  PARTS,
  type HasParts,
} from "./engine.ts";

const INDEX_OPTIONS: KeysOf<IndexOptions> = { signal: true, onProgress: true, symbols: true };

const MIB = 2 ** 20;
/**
 * How long an index run works on the calling thread before it yields to the event loop, in milliseconds. This time is
 * short, because a step that has begun, such as reading a table of a segment, may take another 3 ms.
 */
const STEP_MS = 0.5;

/**
 * Opens a data directory. If the directory does not exist, creates it, or with `readOnly` rejects with
 * INDEX_NOT_FOUND. Other engines and processes may have the same directory open at the same time.
 *
 * @example
 * const engine = await open("./index");
 * await engine.index(directory("./src"));
 * const { files } = await engine.search({ query: "todo or fixme", matches: 20 });
 * await engine.close();
 */
export function open(path: string, options: OpenOptions = {}): Promise<Engine> {
  return openWith(path, options, {});
}

/**
 * Opens a data directory as open() does. `internals` overrides the default internal settings. REQUIRES: if
 * `internals.complete` is set, nobody searches the directory, because parts of its segments may be missing until they
 * are fetched.
 */
export async function openWith(
  path: string,
  options: OpenOptions,
  internals: Partial<Internals>,
): Promise<Engine> {
  const checked = checkOptions(path, options);
  const environment = await openStore(resolve(path), { readOnly: checked.readOnly });
  await yieldTurn(); // the constructor compiles the kernel, which takes 2 ms
  return new OpenedEngine(environment, checked, { ...INTERNALS, ...internals });
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
  readonly #internals: Internals;
  readonly #workspaces = new Set<Workspace>();
  readonly #tables = new KeptTables();
  readonly #reader: Reader;
  readonly #tracer: Tracer;
  #closed: Promise<void> | undefined;

  constructor(environment: Environment, options: Checked, internals: Internals) {
    this.path = environment.path;
    this.#environment = environment;
    this.#options = options;
    this.#internals = internals;
    this.#tracer = new Tracer(this.path);
    this.#kept = new Kept(internals.tableBytes);
    this.#pool = startPool(environment, options, {
      kept: this.#kept,
      workerDied: () => this.#tracer.workerDied(),
    });
    this.#nearThread = new NearThread(() => this.#kept.memory);
    // without workers, every search runs on the calling thread anyway
    this.#near = this.#pool.inline ? undefined : new Near(this.#nearThread);
    this.#catalogs = new CatalogKeeper(environment, newPause, ({ manifest }) => {
      this.#kept.dropOthers(manifest.segments);
      this.#nearThread.dropOthers(manifest.segments);
    });
    this.#searcher = this.#newSearcher(options.onWarning);
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
      complete: internals.complete,
      retireMs: internals.retireMs,
      bounds: internals.runs,
      layout: internals.layout,
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

  /**
   * Creates the warm-up, unless the host has turned it off. Without workers there is no warm-up, because its searches
   * would block the calling thread.
   */
  #newWarmUp(): WarmUp | undefined {
    if (!this.#options.warmUp || this.#pool.inline) return undefined;
    // damage is not reported here, because the host's own searches report it
    const searcher = new Searcher(this.#searching(() => {}));
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

  /** Interrupts the warm-up, so that the host's search does not wait for it. Throws if the engine is closed. */
  #beginSearch(): void {
    this.#mustBeOpen();
    this.#warmUp?.interrupt();
  }

  async search(request: SearchRequest, options: SearchOptions = {}): Promise<SearchResponse> {
    return this.#search(request, options, []);
  }

  async #search(
    request: SearchRequest,
    options: SearchOptions,
    below: readonly CheckedDocument[],
    onView: (view: View) => void = () => {},
  ): Promise<SearchResponse> {
    this.#beginSearch();
    checkSearchOptions("search", options);
    const newest = this.#viewSource(options, below);
    const toldView = async () => {
      const view = await newest();
      onView(view);
      return view;
    };
    return this.#tracer.search(request, () => this.#searcher.search(request, options, toldView));
  }

  /** Searches, and also returns the generation of the index that the search has read. */
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
        this.#beginSearch();
        checkSearchOptions("search", options);
        const view = this.#viewSource(options);
        return this.#tracer.begin(request, () => this.#searcher.begin(request, options, view));
      },
    };
  }

  stream(request: SearchRequest, options: SearchOptions = {}): AsyncIterable<SearchEvent> {
    return this.#stream(request, options, []);
  }

  #stream(
    request: SearchRequest,
    options: SearchOptions,
    below: readonly CheckedDocument[],
  ): AsyncIterable<SearchEvent> {
    this.#beginSearch();
    checkSearchOptions("stream", options);
    const view = this.#viewSource(options, below);
    return this.#tracer.stream(request, this.#searcher.stream(request, options, view));
  }

  async explain(request: SearchRequest, options: SearchOptions = {}): Promise<Explanation> {
    this.#beginSearch();
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
   * Returns a function that creates a view of the newest generation. In the view, the documents of `below` replace
   * indexed files, and the documents of the overlay replace both. Documents of `below` are left out if the viewer may
   * not see their repository. The overlay is read and checked immediately, before the function is called.
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
      bounds: this.#internals.workspaces,
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
    // all writes end first, because a thread that is terminated within a transaction would never release LMDB's lock
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
  { workers, textCache, readOnly, onWarning }: Checked,
  { kept, workerDied }: { readonly kept: Kept; readonly workerDied: () => void },
): OwnPool {
  const { path } = environment;
  return createPool({
    size: workers,
    entry: packageFile("worker.js"),
    tasks: { ...INGEST_TASKS, ...SEARCH_TASKS, ...OVERLAY_TASKS },
    environment:
      workers === 0
        ? { path, readOnly, opened: environment, textCache, ...kept.memory }
        : {
            path,
            readOnly,
            textCache: Math.floor(textCache / workers),
            get keptLists() {
              return kept.memory.keptLists;
            },
            get tables() {
              return kept.memory.tables;
            },
          },
    // the pool's only warnings are those about dead workers
    onWarning: (warning) => {
      workerDied();
      onWarning(warning);
    },
  });
}
