/**
 * Implements the public methods of every engine. Each method rejects wrong arguments and calls after close(), and
 * then calls the core. There is no other logic here, and a core checks nothing of this again.
 */

import { closedError, invalid, QuernError } from "./base/errors.ts";
import { checkKeys, type KeysOf } from "./base/known-keys.ts";
import { CORE, type OffersCore } from "./core-of.ts";
import type { EngineCore } from "./engine-core.ts";
import type { Engine, IndexOptions, ReadOptions, RepositoriesOptions } from "./engine.ts";
import type { FindOptions, FindRequest, FindResponse } from "./find/request.ts";
import type { History } from "./history/history.ts";
import type { IndexProgress, IndexReport } from "./ingest/run/report.ts";
import type { Source } from "./ingest/sources/source.ts";
import type { CompactReport } from "./ingest/writes.ts";
import {
  checkNavigation,
  checkTarget,
  type Ask,
  type CallersOptions,
  type NavigationAnswer,
  type NavigationCaller,
  type NavigationEvent,
  type NavigationOptions,
  type NavigationTarget,
} from "./navigation/request.ts";
import { checkPage } from "./repositories.ts";
import type { FileContent, FolderEntry, Repository } from "./repository.ts";
import {
  checkSearchOptions,
  checkViewer,
  type SearchOptions,
  type SearchRequest,
  type Viewer,
} from "./search/messages/request.ts";
import type { Explanation, SearchEvent, SearchResponse } from "./search/messages/response.ts";
import type { BackupOptions, BackupReport } from "./store/upkeep/backup.ts";
import type { CheckReport } from "./store/upkeep/check.ts";
import type { Workspace, WorkspaceOptions } from "./workspace/workspace.ts";

const INDEX_OPTIONS: KeysOf<IndexOptions> = {
  signal: true,
  onProgress: true,
  symbols: true,
  words: true,
};
const FIND_OPTIONS: KeysOf<FindOptions> = {
  signal: true,
  timeoutMs: true,
  viewer: true,
  overlay: true,
};
const BACKUP_OPTIONS: KeysOf<BackupOptions> = { base: true, signal: true, onProgress: true };
const READ_OPTIONS: KeysOf<ReadOptions> = { viewer: true, overlay: true };
const REPOSITORIES_OPTIONS: KeysOf<RepositoriesOptions> = {
  viewer: true,
  query: true,
  after: true,
  limit: true,
};
const LOCATION = { repository: true, path: true, revision: true } as const;

type Location = Parameters<Engine["read"]>[0];

export class EngineFacade implements Engine, OffersCore {
  readonly path: string;
  readonly #core: EngineCore;

  constructor(core: EngineCore) {
    this.path = core.path;
    this.#core = core;
  }

  get generation(): number {
    return this.#core.generation();
  }

  get [CORE](): OffersCore[typeof CORE] {
    // if `this` is a Proxy, it has no core
    return #core in this ? { engine: this, core: this.#core, methods: METHODS } : undefined;
  }

  /** The core, unless it is closed. Throws ENGINE_CLOSED if it is. */
  get #open(): EngineCore {
    if (this.#core.isClosed()) throw closedError();
    return this.#core;
  }

  // ── searches ──

  async search(request: SearchRequest, options: SearchOptions = {}): Promise<SearchResponse> {
    return this.#view("search", options).search(request);
  }

  stream(request: SearchRequest, options: SearchOptions = {}): AsyncIterable<SearchEvent> {
    return this.#view("stream", options).stream(request);
  }

  async explain(request: SearchRequest, options: SearchOptions = {}): Promise<Explanation> {
    return this.#view("explain", options).explain(request);
  }

  async find(request: FindRequest, options: FindOptions = {}): Promise<FindResponse> {
    checkKeys({ call: "find", what: "option" }, options, FIND_OPTIONS);
    return this.#view("find", options).find(request);
  }

  // ── navigation ──

  async definitionsOf(
    target: NavigationTarget,
    options: NavigationOptions = {},
  ): Promise<NavigationAnswer> {
    return this.#navigate("definitionsOf", "definitions", target, options);
  }

  async usesOf(
    target: NavigationTarget,
    options: NavigationOptions = {},
  ): Promise<NavigationAnswer> {
    return this.#navigate("usesOf", "uses", target, options);
  }

  streamUses(
    target: NavigationTarget,
    options: NavigationOptions = {},
  ): AsyncIterable<NavigationEvent> {
    const { view, question } = this.#question("streamUses", "uses", target, options);
    return view.streamUses(question);
  }

  async callersOf(
    target: NavigationTarget,
    options: CallersOptions = {},
  ): Promise<NavigationAnswer<NavigationCaller>> {
    const answer = await this.#navigate("callersOf", "callers", target, options);
    return answer as NavigationAnswer<NavigationCaller>;
  }

  async implementationsOf(
    target: NavigationTarget,
    options: NavigationOptions = {},
  ): Promise<NavigationAnswer> {
    return this.#navigate("implementationsOf", "implementations", target, options);
  }

  #navigate(call: string, ask: Ask, target: NavigationTarget, options: CallersOptions) {
    const { view, question } = this.#question(call, ask, target, options);
    return view.navigate(question);
  }

  #question(call: string, ask: Ask, target: NavigationTarget, options: CallersOptions) {
    const core = this.#open;
    const checked = checkNavigation(call, options);
    const { atLeast: _, limit: __, after: ___, depth: ____, ...more } = options;
    checkSearchOptions(call, more);
    return { view: core.view(more), question: { ask, target: checkTarget(call, target), checked } };
  }

  #view(call: string, options: SearchOptions) {
    const core = this.#open;
    checkSearchOptions(call, options);
    return core.view(options);
  }

  // ── repositories, files and folders ──

  async repository(
    nameOrId: string | number,
    options: { viewer?: Viewer } = {},
  ): Promise<Repository | undefined> {
    const { repositories } = this.#open;
    const viewer = viewerOf("repository", options);
    if (typeof nameOrId !== "string" && typeof nameOrId !== "number")
      throw invalid(`repository must be a name or an id, got ${typeof nameOrId}`);
    return repositories.describe(nameOrId, viewer);
  }

  async repositories(options: RepositoriesOptions = {}): Promise<Repository[]> {
    const { repositories } = this.#open;
    checkKeys({ call: "repositories", what: "option" }, options, REPOSITORIES_OPTIONS);
    checkViewer("repositories", options.viewer);
    checkPage(options);
    return repositories.describeAll(options);
  }

  async read(file: Location, options: ReadOptions = {}): Promise<FileContent | undefined> {
    return this.#viewAt("read", file, options).read(file);
  }

  async list(folder: Location, options: ReadOptions = {}): Promise<FolderEntry[] | undefined> {
    return this.#viewAt("list", folder, options).list(folder);
  }

  #viewAt(call: string, location: Location, options: ReadOptions) {
    const core = this.#open;
    checkKeys({ call, what: "field" }, location, LOCATION);
    checkKeys({ call, what: "option" }, options, READ_OPTIONS);
    checkViewer(call, options.viewer);
    if (typeof location.repository !== "string" || typeof location.path !== "string")
      throw invalid("repository and path must be strings");
    return core.view(options);
  }

  async history(
    repository: string,
    options: { viewer?: Viewer } = {},
  ): Promise<History | undefined> {
    const core = this.#open;
    if (typeof repository !== "string") throw invalid("history: the repository must be a string");
    try {
      return await core.history(repository, viewerOf("history", options));
    } catch (error) {
      if (error instanceof QuernError && error.code === "HISTORY_NOT_AVAILABLE") return undefined;
      throw error;
    }
  }

  // ── writes ──

  async index(
    source: Source | Iterable<Source> | AsyncIterable<Source>,
    options: IndexOptions = {},
  ): Promise<IndexReport[]> {
    const core = this.#open;
    checkKeys({ call: "index", what: "option" }, options, INDEX_OPTIONS);
    if (!["after", "skip", undefined].includes(options.symbols))
      throw invalid(`index: symbols must be "after" or "skip"`);
    if (!["after", "skip", undefined].includes(options.words))
      throw invalid(`index: words must be "after" or "skip"`);
    return core.index(source, options);
  }

  async remove(repository: string): Promise<boolean> {
    const core = this.#open;
    if (typeof repository !== "string") throw invalid("remove: the repository must be a string");
    return core.remove(repository, {});
  }

  async compact(
    options: { signal?: AbortSignal; onProgress?: (progress: IndexProgress) => void } = {},
  ): Promise<CompactReport> {
    const core = this.#open;
    checkKeys({ call: "compact", what: "option" }, options, { signal: true, onProgress: true });
    return core.compact(options);
  }

  async backup(folder: string, options: BackupOptions = {}): Promise<BackupReport> {
    const core = this.#open;
    checkKeys({ call: "backup", what: "option" }, options, BACKUP_OPTIONS);
    const paths = [folder, ...(options.base === undefined ? [] : [options.base])];
    if (paths.some((path) => typeof path !== "string" || path === ""))
      throw invalid("backup: the folder and base must be non-empty strings");
    return core.backup(folder, options);
  }

  async workspace(path: string, options: WorkspaceOptions = {}): Promise<Workspace> {
    return this.#open.workspace(path, options);
  }

  // ── upkeep ──

  async check(options: { signal?: AbortSignal } = {}): Promise<CheckReport> {
    const core = this.#open;
    checkKeys({ call: "check", what: "option" }, options, { signal: true });
    return core.check(options);
  }

  trim(): void {
    this.#open.trim();
  }

  close(): Promise<void> {
    return this.#core.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** The methods of the class, before a host can replace any of them. */
const METHODS: readonly (readonly [name: string, method: unknown])[] = Object.entries(
  Object.getOwnPropertyDescriptors(EngineFacade.prototype),
)
  .filter(([name, { value }]) => name !== "constructor" && typeof value === "function")
  .map(([name, { value }]) => [name, value as unknown]);

function viewerOf(call: string, options: { viewer?: Viewer }): Viewer | undefined {
  checkKeys({ call, what: "option" }, options, { viewer: true });
  checkViewer(call, options.viewer);
  return options.viewer;
}
