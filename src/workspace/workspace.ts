/**
 * Follows a folder. Before a search answers, the workspace finds out which files have changed since they were indexed
 * (disk-tree.ts). It lays the current content of these files over the index, and the unsaved text on top of that. The
 * index catches up later. If much has changed, as by a checkout, the current content is laid over without posting lists
 * and symbols, which takes half the time. If even more has changed, the search waits for the index.
 *
 * An idle workspace does nothing: it reads the disk only after the system has sent a change notice.
 */

import { realpath } from "node:fs/promises";
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { closedError, QuernError } from "../base/errors.ts";
import { noFolder, isGone, unreadableFolder } from "../base/folder-errors.ts";
import { aborted, throwIfAborted } from "../base/abort.ts";
import { Slice } from "../base/yield.ts";
import type { IndexReport } from "../ingest/run/report.ts";
import {
  checkedDiskPath,
  checkedMetadata,
  checkedName,
  checkedOptions,
  invalid,
} from "../ingest/sources/metadata.ts";
import { tellExcluded } from "../ingest/sources/excluded.ts";
import type { Source } from "../ingest/sources/source.ts";
import { checkDocument, MOST_OVERLAY_BYTES, type CheckedDocument } from "../overlay/documents.ts";
import type { FileContent } from "../repository.ts";
import type { SearchOptions, SearchRequest } from "../search/messages/request.ts";
import type { SearchEvent, SearchResponse } from "../search/messages/response.ts";
import type { RepositoryMetadata } from "../store/format/records.ts";
import type { Most, WorkspaceBounds } from "./bounds.ts";
import { diskChanges, type Tree } from "./disk-changes.ts";
import { DiskTree, type DiskEntry } from "./disk-tree.ts";
import { NOTICES, systemNotices, type MakeNotices } from "./notices.ts";

/**
 * Options of Engine.workspace().
 *
 * @example
 * const options: WorkspaceOptions = { name: "shop", ignore: ["*.bak"], onWarning: console.warn };
 * await using tree = await engine.workspace("./shop", options);
 */
export interface WorkspaceOptions extends RepositoryMetadata {
  /** The repository's name. Default: the folder's name. */
  name?: string;
  /**
   * Further patterns, written as in a .gitignore file at the root. They override the patterns in .gitignore and
   * .ignore files.
   */
  ignore?: string[];
  /** Called when the index has caught up with changes. */
  onIndexed?: (report: IndexReport) => void;
  /** Called when changes cannot be followed or indexed, and once if rules exclude nearly everything. */
  onWarning?: (warning: {
    /**
     * An ErrorCode; 'NOT_FOLLOWED' if the system reports no changes for a part of the tree; 'EXCLUDED' if rules of
     * .gitignore or .ignore files exclude nearly all of it.
     */
    code: string;
    /** A message for people. */
    message: string;
  }) => void;
  /** Aborting closes the workspace. */
  signal?: AbortSignal;
}

/**
 * A folder or git work tree whose changes are followed. Each search sees the disk as it is, and the unsaved text.
 *
 * @example
 * await using tree = await engine.workspace("./shop");
 * tree.set("src/cart.ts", "export const total = 0;");
 * const { files } = await tree.search({ query: "total", matches: 20 });
 */
export interface Workspace extends AsyncDisposable {
  /** The name of its repository in the index. */
  readonly repository: string;
  /**
   * Searches like Engine.search(). The search sees the unsaved texts of one moment since the call began, and each other
   * file as it was on disk at such a moment. The answer's `seen` says which state that was.
   *
   * @example
   * const { stats } = await tree.search({ query: "todo", matches: 0 });
   */
  search(request: SearchRequest, options?: SearchOptions): Promise<WorkspaceResponse>;
  /**
   * Streams like Engine.stream(). The search sees the disk and the unsaved texts as search() does.
   *
   * @example
   * for await (const event of tree.stream({ query: "todo", matches: 100 })) console.log(event.type);
   */
  stream(request: SearchRequest, options?: SearchOptions): AsyncIterable<SearchEvent>;
  /**
   * Reads a file as it is now: its unsaved text, or else its content on disk. Resolves to `undefined` if there is
   * none.
   *
   * @example
   * const text = (await tree.read("src/cart.ts"))?.content;
   */
  read(path: string): Promise<FileContent | undefined>;
  /**
   * Sets the unsaved text of a file. It replaces the file on disk until unset(), clear() or close().
   *
   * @example
   * tree.set("src/cart.ts", "export const total = 0;");
   */
  set(path: string, content: string | Uint8Array): void;
  /**
   * Removes the unsaved text of a file, so that searches see the file on disk again.
   *
   * @example
   * tree.unset("src/cart.ts");
   */
  unset(path: string): void;
  /**
   * Removes all unsaved text.
   *
   * @example
   * tree.clear();
   */
  clear(): void;
  /**
   * Resolves when everything that is on disk now has been indexed, including its symbols.
   *
   * @example
   * await tree.settled();
   */
  settled(): Promise<void>;
  /**
   * Returns how many changed files are not in the index yet, and whether the system reports changes for the whole
   * tree, for a part of it, or not at all.
   *
   * @example
   * const { pending, followed } = tree.state();
   */
  state(): {
    /** How many changed files are not in the index yet. */
    pending: number;
    /**
     * Whether the system reports changes of the whole tree ("notices"), of a part of it ("partly"), or none
     * ("polling").
     */
    followed: "notices" | "polling" | "partly";
  };
  /**
   * Stops following; the index stays. Idempotent.
   *
   * @example
   * await tree.close();
   */
  close(): Promise<void>;
}

/**
 * The key of the method that returns the changes to lay over the index, so that an answer reflects the disk and the
 * unsaved text. Internal, for the engine.
 */
export const UP_TO_DATE = Symbol.for("quern.upToDate");

export interface KnowsWhatIsNew {
  [UP_TO_DATE](signal: AbortSignal | undefined): Promise<readonly CheckedDocument[]>;
}

/**
 * An answer of a workspace, with the state that it saw.
 *
 * @example
 * const { stats, seen }: WorkspaceResponse = await tree.search({ query: "todo", matches: 0 });
 * if (seen.followed !== "notices") console.log("each search looks at the disk", stats.fileCount);
 */
export interface WorkspaceResponse extends SearchResponse {
  /** The state of the tree that was searched; see Workspace.search(). */
  readonly seen: {
    /** The generation of the index. */
    readonly generation: number;
    /** The number of changed files and unsaved texts that replaced indexed ones. */
    readonly overlaid: number;
    /** Whether the system reports changes for the whole tree. If it does not, each search reads the disk. */
    readonly followed: "notices" | "polling" | "partly";
  };
}

export interface WorkspaceEngine {
  /** The data directory. */
  readonly path: string;
  readonly maxFileSize: number;
  readonly bounds: WorkspaceBounds;
  index(
    source: Source | Source[],
    options: { symbols: "after" | "skip"; signal: AbortSignal },
  ): Promise<IndexReport[]>;
  search(
    request: SearchRequest,
    options: SearchOptions,
    documents: readonly CheckedDocument[],
  ): Promise<{ response: SearchResponse; generation: number }>;
  stream(
    request: SearchRequest,
    options: SearchOptions,
    documents: readonly CheckedDocument[],
  ): AsyncIterable<SearchEvent>;
  read(
    file: { repository: string; path: string },
    documents: readonly CheckedDocument[],
  ): Promise<FileContent | undefined>;
  /** Frees the plain texts of a repository, which is indexed now. */
  release(repository: string): Promise<void>;
}

/** How long the index waits for further changes after a change. */
const QUIET_MS = 250;
/** The longest time that the index waits while changes continue. Until then, searches lay the changes over it. */
const MOST_WAIT_MS = 2_000;
/** The longest time that the index waits while searches run. */
const MOST_DEFERRED_MS = 10_000;
/**
 * The time before a failed index run is tried again. The run may have failed because another process holds the lease.
 */
const RETRY_MS = 1_000;
/** The interval between checks of files that have just changed, until their timestamps are conclusive. */
const YOUNG_MS = 20;
/** The interval between reads of the disk if no notices arrive. */
const POLL_MS = 2_000;
/** How many times a search waits for the index. After each wait, too much may have changed again. */
const MOST_ROUNDS = 5;

/** Opens a followed folder. Resolves when its content is in the index; symbols follow. */
export async function openWorkspace(
  engine: WorkspaceEngine,
  path: string,
  given: WorkspaceOptions & { readonly [NOTICES]?: MakeNotices },
): Promise<Workspace> {
  const { ignore = [], onIndexed, onWarning, signal, ...rest } = given;
  const { [NOTICES]: notices = systemNotices } = given;
  checkedOptions("workspace", given, ["ignore", "onIndexed", "onWarning", "signal"]);
  const metadata = checkedMetadata("workspace", rest);
  const root = await realpath(checkedDiskPath("workspace", path)).catch((cause: unknown) => {
    throw isGone(cause) ? noFolder(path, cause) : unreadableFolder(path, cause);
  });
  const dataFolder = await realpath(engine.path);
  if (dataFolder === root)
    throw invalid(`workspace: ${path} is the data directory; follow the folder with the sources`);
  const name = checkedName("workspace", given.name ?? basename(root));
  const workspace = new FollowedTree(engine, {
    tree: { name, root, metadata },
    ignore,
    dataFolder,
    notices,
    onIndexed: onIndexed ?? (() => {}),
    onWarning: onWarning ?? (() => {}),
    signal,
  });
  try {
    await workspace.begin();
  } catch (error) {
    await workspace.close();
    throw error;
  }
  return workspace;
}

interface Followed {
  readonly tree: Tree;
  readonly ignore: readonly string[];
  readonly dataFolder: string;
  readonly notices: MakeNotices;
  readonly onIndexed: (report: IndexReport) => void;
  readonly onWarning: (warning: { code: string; message: string }) => void;
  readonly signal: AbortSignal | undefined;
}

type Changes = Map<string, DiskEntry | undefined>;

class FollowedTree implements Workspace, KnowsWhatIsNew {
  readonly #engine: WorkspaceEngine;
  readonly #options: Followed;
  readonly #disk: DiskTree;
  readonly #onDisk: { readonly folder: string };
  /** The changes on disk that are not indexed yet. */
  readonly #pending: Changes = new Map();
  readonly #unsaved = new Map<string, CheckedDocument>();
  readonly #closing = new AbortController();
  /** All changes as documents. Made again after each change. */
  #documents: Promise<readonly CheckedDocument[]> | undefined;
  #refreshing: Promise<unknown> = Promise.resolve();
  #indexing: Promise<void> | undefined;
  /** The current extraction of symbols, and what aborts it. */
  #symbols: { readonly done: Promise<void>; readonly stop: AbortController } | undefined;
  #lacksSymbols = true;
  #timer: NodeJS.Timeout | undefined;
  /** The time at which the timer ends. */
  #timerEnds = 0;
  /** The time at which the index catches up. The timer may end earlier, and is then set again. */
  #due = 0;
  /** The number of current searches. */
  #answering = 0;
  /** The time of the first change that the index has not caught up with. */
  #changing: number | undefined;
  #toldOf: string = "notices";
  #closed: Promise<void> | undefined;

  constructor(engine: WorkspaceEngine, options: Followed) {
    this.#engine = engine;
    this.#options = options;
    this.#onDisk = { folder: options.tree.root };
    this.#disk = new DiskTree({
      root: options.tree.root,
      patterns: options.ignore,
      gitignore: true,
      dataFolder: options.dataFolder,
      maxFileSize: engine.maxFileSize,
      notices: (onLost) => options.notices(options.tree.root, onLost),
      onChange: (path, entry) => {
        this.#pending.set(path, entry);
        this.#documents = undefined;
      },
      onNotice: () => this.#waitForQuiet(),
    });
    options.signal?.addEventListener("abort", () => void this.close(), { once: true });
  }

  get repository(): string {
    return this.#options.tree.name;
  }

  async begin(): Promise<void> {
    await this.#refresh();
    await this.#index(true);
    const message = await tellExcluded(this.#options.tree.root);
    if (message !== undefined) this.#options.onWarning({ code: "EXCLUDED", message });
    this.#later(0);
  }

  async search(request: SearchRequest, options: SearchOptions = {}): Promise<WorkspaceResponse> {
    this.#answering++;
    try {
      const documents = await this.#upToDate(options.signal);
      const { followed } = this.#disk;
      const { response, generation } = await this.#engine.search(request, options, documents);
      return { ...response, seen: { generation, overlaid: documents.length, followed } };
    } finally {
      this.#answering--;
    }
  }

  async *stream(request: SearchRequest, options: SearchOptions = {}): AsyncGenerator<SearchEvent> {
    yield* this.#engine.stream(request, options, await this.#upToDate(options.signal));
  }

  async read(path: string): Promise<FileContent | undefined> {
    const documents = await this.#upToDate(undefined);
    return this.#engine.read({ repository: this.repository, path }, documents);
  }

  set(path: string, content: string | Uint8Array): void {
    this.#mustBeOpen();
    const document = checkDocument({ repository: this.repository, path, content }, "set()");
    let bytes = document.text!.bytes - (this.#unsaved.get(path)?.text?.bytes ?? 0);
    for (const { text } of this.#unsaved.values()) bytes += text!.bytes;
    if (bytes > MOST_OVERLAY_BYTES)
      throw invalid(
        `set(): the unsaved texts hold more than ${MOST_OVERLAY_BYTES / 2 ** 20} MiB; save some of them`,
      );
    this.#unsaved.set(path, document);
    this.#documents = undefined;
  }

  unset(path: string): void {
    if (this.#unsaved.delete(path)) this.#documents = undefined;
  }

  clear(): void {
    if (this.#unsaved.size > 0) this.#documents = undefined;
    this.#unsaved.clear();
  }

  async settled(): Promise<void> {
    await this.#refresh();
    while (this.#indexing || this.#pending.size > 0) {
      await this.#index(false);
      if (this.#pending.size > 0) await sleep(YOUNG_MS);
      await this.#refresh();
    }
    while (this.#lacksSymbols) await (this.#symbols?.done ?? this.#findSymbols());
  }

  state(): { pending: number; followed: "notices" | "polling" | "partly" } {
    return { pending: this.#pending.size, followed: this.#disk.followed };
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#closing.abort();
    this.#symbols?.stop.abort();
    await Promise.allSettled([this.#refreshing, this.#indexing, this.#symbols?.done]);
    this.#disk.close();
    await this.#engine.release(this.repository).catch(() => undefined); // the engine may be closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #mustBeOpen(): void {
    if (this.#closed) throw closedError();
  }

  [UP_TO_DATE](signal: AbortSignal | undefined): Promise<readonly CheckedDocument[]> {
    return this.#upToDate(signal);
  }

  /** Returns the changes to lay over the index, so that a search sees the disk as it is now. */
  async #upToDate(signal: AbortSignal | undefined): Promise<readonly CheckedDocument[]> {
    await this.#refresh();
    for (
      let round = 0;
      round < MOST_ROUNDS && this.#areMore(this.#engine.bounds.overlaid);
      round++
    ) {
      await unlessAborted(this.#index(false), signal);
      await this.#refresh();
    }
    if (this.#pending.size > 0 && !this.#timer) this.#later(QUIET_MS);
    return (this.#documents ??= this.#makeDocuments());
  }

  /** Whether more files or bytes have changed than `than` allows. */
  #areMore(than: Most): boolean {
    if (this.#pending.size > than.files) return true;
    let bytes = 0;
    for (const entry of this.#pending.values()) if (entry?.kind === "file") bytes += entry.size;
    return bytes > than.bytes;
  }

  async #makeDocuments(): Promise<readonly CheckedDocument[]> {
    const { repository } = this;
    const slice = new Slice({ signal: this.#closing.signal });
    const isPlain = this.#areMore(this.#engine.bounds.withSymbols);
    const [pending, unsaved] = [[...this.#pending], new Map(this.#unsaved)];
    const documents: CheckedDocument[] = [];
    for (const [path, entry] of pending) {
      if (unsaved.has(path)) continue;
      if (slice.isOver) await slice.rest();
      documents.push({ repository, path, text: this.#textOnDisk(entry, isPlain) });
    }
    return [...documents, ...unsaved.values()];
  }

  /** Returns the text of a file on disk. The text's key is the entry; a changed file has a new entry. */
  #textOnDisk(entry: DiskEntry | undefined, isPlain: boolean): CheckedDocument["text"] {
    if (entry?.kind === "file")
      return { key: entry, content: this.#onDisk, bytes: entry.size, isPlain };
    // a symlink is in the list, but never found by searches
    if (!entry || entry.reason === "symlink") return undefined;
    return { key: entry, content: { skipped: entry.reason }, bytes: 0, isPlain };
  }

  /** Reads the disk. Reads run one after another, and a call never joins one that has already begun. */
  #refresh(): Promise<void> {
    this.#mustBeOpen();
    const slice = new Slice({ signal: this.#closing.signal });
    const look = this.#refreshing.then(async () => {
      await this.#disk.refresh(slice);
      this.#tellFollowed();
    });
    this.#refreshing = look.catch(() => undefined);
    return look;
  }

  #tellFollowed(): void {
    const { followed } = this.#disk;
    if (followed === this.#toldOf) return;
    this.#toldOf = followed;
    if (followed === "notices") return;
    const part = followed === "partly" ? "a part of" : "";
    const message = `the system gives no notices of changes for ${part} ${this.#options.tree.root}; each search looks at the disk there (on Linux see fs.inotify.max_user_watches)`;
    this.#options.onWarning({ code: "NOT_FOLLOWED", message: message.replace("  ", " ") });
  }

  /** Brings the index up to date with the disk. A call joins a run that has already begun. */
  #index(isWhole: boolean): Promise<void> {
    this.#indexing ??= this.#run(isWhole).finally(() => (this.#indexing = undefined));
    return this.#indexing;
  }

  async #run(isWhole: boolean): Promise<void> {
    this.#symbols?.stop.abort();
    await this.#symbols?.done;
    const changes: Changes = new Map(this.#pending);
    const source = diskChanges(this.#options.tree, changes, isWhole);
    const { signal } = this.#closing;
    const [report] = await this.#engine.index(source, { symbols: "skip", signal });
    this.#lacksSymbols = true;
    for (const [path, entry] of changes) {
      const isYoung = entry?.kind === "file" && entry.version === undefined;
      if (!isYoung && this.#pending.get(path) === entry) this.#pending.delete(path);
    }
    this.#documents = undefined;
    if (!this.#areMore(this.#engine.bounds.withSymbols))
      await this.#engine.release(this.repository);
    this.#options.onIndexed(report!);
  }

  /** Extracts missing symbols. Stops early if there is content to index. */
  #findSymbols(): Promise<void> {
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, this.#closing.signal]);
    const done = this.#engine
      .index([], { symbols: "after", signal })
      .then(() => void (this.#lacksSymbols = false))
      .catch((error: unknown) => this.#tell(error, signal))
      .finally(() => (this.#symbols = undefined));
    this.#symbols = { done, stop };
    return done;
  }

  #waitForQuiet(): void {
    const now = performance.now();
    this.#changing ??= now;
    this.#later(Math.min(QUIET_MS, this.#changing + MOST_WAIT_MS - now));
  }

  /** Lets the index catch up after a time without changes. */
  #later(ms: number): void {
    if (this.#closed) return;
    this.#due = performance.now() + ms;
    // a checkout sends a notice for each file, and a new timer for each would burden the garbage collector
    if (!this.#timer || this.#timerEnds > this.#due) this.#setTimer();
  }

  #setTimer(): void {
    clearTimeout(this.#timer);
    this.#timerEnds = this.#due;
    const end = () => {
      if (performance.now() < this.#due) this.#setTimer();
      else void this.#catchUp();
    };
    this.#timer = setTimeout(end, this.#due - performance.now()).unref();
  }

  async #catchUp(): Promise<void> {
    this.#timer = undefined;
    // a search that lays many changes over the index needs all threads
    const waited = performance.now() - (this.#changing ??= performance.now());
    const isBusy = this.#answering > 0 && this.#areMore(this.#engine.bounds.withSymbols);
    if (isBusy && waited < MOST_DEFERRED_MS) return this.#later(YOUNG_MS);
    this.#changing = undefined;
    if (this.#indexing || this.#closed) return;
    try {
      await this.#refresh();
      if (this.#pending.size > 0) await this.#index(false);
      if (this.#pending.size > 0) this.#later(QUIET_MS);
      else if (this.#disk.followed !== "notices") this.#later(POLL_MS);
      if (this.#lacksSymbols && !this.#symbols) await this.#findSymbols();
    } catch (error) {
      this.#tell(error, this.#closing.signal);
      this.#later(RETRY_MS);
    }
  }

  #tell(error: unknown, stopped: AbortSignal): void {
    if (stopped.aborted) return;
    const code = error instanceof QuernError ? error.code : "INTERNAL";
    const message = error instanceof Error ? error.message : String(error);
    this.#options.onWarning({ code, message });
  }
}

/** Waits for the work. Rejects with ABORTED as soon as the signal is aborted. */
async function unlessAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return work;
  throwIfAborted(signal);
  let onAbort = () => {};
  const stopped = new Promise<never>((_, reject) => {
    onAbort = () => reject(aborted(signal));
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    await Promise.race([work, stopped]);
  } finally {
    signal.removeEventListener("abort", onAbort);
    work.catch(() => undefined);
  }
}
