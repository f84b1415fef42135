/**
 * Follows a folder. Before each search, the workspace finds out which files have changed since they were indexed
 * (disk-tree.ts). It lays the current content of these files over the index, and the unsaved texts on top of that.
 * The index catches up later. If many files have changed, such as after a checkout, their content is laid over the
 * index without posting lists and symbols. This takes half the time. If even more files have changed, the search waits
 * for the index.
 *
 * If the system sends change notices for the whole folder, an idle workspace does nothing. Otherwise, it reads the
 * disk every POLL_MS.
 */

import { realpath } from "node:fs/promises";
import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { JoinedSignal } from "../base/joined-signal.ts";
import { closedError, invalid, QuernError } from "../base/errors.ts";
import { noFolder, isGone, unreadableFolder } from "../base/folder-errors.ts";
import { unlessAborted } from "../base/abort.ts";
import { Slice } from "../base/yield.ts";
import type { FindOptions, FindRequest, FindResponse } from "../find/request.ts";
import type { IndexReport } from "../ingest/run/report.ts";
import {
  checkedDiskPath,
  checkedMetadata,
  checkedName,
  checkedOptions,
} from "../ingest/sources/metadata.ts";
import { tellExcluded } from "../ingest/sources/excluded.ts";
import type { Source } from "../ingest/sources/source.ts";
import { checkDocument, MOST_OVERLAY_BYTES, type CheckedDocument } from "../overlay/documents.ts";
import type { FileContent } from "../repository.ts";
import type { SearchOptions, SearchRequest } from "../search/messages/request.ts";
import type { SearchEvent, SearchResponse } from "../search/messages/response.ts";
import type { RepositoryMetadata } from "../store/format/records.ts";
import type { Most, WorkspaceBounds } from "./bounds.ts";
import { diskChanges, type Changes, type Tree } from "./disk-changes.ts";
import { DiskTree, type DiskEntry } from "./disk-tree.ts";
import type { MakeNotices } from "./notices.ts";

/**
 * Options of Engine.workspace().
 *
 * @example
 * const options: WorkspaceOptions = { name: "shop", ignore: ["*.bak"], onWarning: console.warn };
 * await using tree = await engine.workspace("./shop", options);
 */
export interface WorkspaceOptions extends RepositoryMetadata {
  /** The name of the repository in the index. Default: the name of the folder. */
  name?: string;
  /**
   * Additional patterns, with the syntax of a .gitignore file at the root. These patterns override the patterns in
   * .gitignore and .ignore files.
   */
  ignore?: string[];
  /** Called when the index has caught up with changes. */
  onIndexed?: (report: IndexReport) => void;
  /**
   * Called when changes cannot be followed or indexed. Also called once if rules exclude nearly all of the folder.
   */
  onWarning?: (warning: {
    /**
     * One of the ErrorCodes, or 'NOT_FOLLOWED', or 'EXCLUDED'. 'NOT_FOLLOWED' means that the system does not report
     * changes for a part of the folder. 'EXCLUDED' means that rules of .gitignore or .ignore files exclude nearly all
     * of the folder.
     */
    code: string;
    /** A message for people. */
    message: string;
  }) => void;
  /** When this signal is aborted, the workspace closes. */
  signal?: AbortSignal;
}

/**
 * A folder or git work tree whose changes are followed. If a file has an unsaved text, a search sees this text. It sees
 * every other file as it is on disk when the search runs.
 *
 * @example
 * await using tree = await engine.workspace("./shop");
 * tree.set("src/cart.ts", "export const total = 0;");
 * const { files } = await tree.search({ query: "total", matches: 20 });
 */
export interface Workspace extends AsyncDisposable {
  /** The name of the workspace's repository in the index. */
  readonly repository: string;
  /**
   * Searches like Engine.search(). The search sees all unsaved texts as they were at one moment after the call began.
   * It sees every other file as it was on disk at some moment after the call began. `seen` in the answer describes
   * this state.
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
   * Finds places like Engine.find(). The call sees the disk and the unsaved texts as search() does.
   *
   * @example
   * const { places } = await tree.find({ text: "where are prices rounded" });
   */
  find(request: FindRequest, options?: FindOptions): Promise<FindResponse>;
  /**
   * Reads the current content of a file, which is its unsaved text, or its content on disk if it has no unsaved text.
   * Resolves to `undefined` if there is no such file.
   *
   * @example
   * const text = (await tree.read("src/cart.ts"))?.content;
   */
  read(path: string): Promise<FileContent | undefined>;
  /**
   * Sets the unsaved text of a file. Searches see this text instead of the file on disk, until unset(), clear() or
   * close() is called.
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
   * Removes all unsaved texts.
   *
   * @example
   * tree.clear();
   */
  clear(): void;
  /**
   * Resolves when everything that is on the disk at the time of the call has been indexed, with its symbols.
   *
   * @example
   * await tree.settled();
   */
  settled(): Promise<void>;
  /**
   * Returns the number of changed files that are not in the index yet. Also returns whether the system reports
   * changes for the whole folder, for a part of it, or not at all.
   *
   * @example
   * const { pending, followed } = tree.state();
   */
  state(): {
    /** The number of changed files that are not in the index yet. */
    pending: number;
    /**
     * Whether the system reports changes of the whole tree ("notices"), of a part of it ("partly"), or none
     * ("polling").
     */
    followed: "notices" | "polling" | "partly";
  };
  /**
   * Stops following the folder. The folder's content stays in the index. Further calls of close() do nothing.
   *
   * @example
   * await tree.close();
   */
  close(): Promise<void>;
}

/** A workspace as its engine sees it. */
export interface FollowedFolder extends Workspace {
  /** Resolves to the documents to lay over the index, so that an answer reflects the disk and the unsaved texts. */
  upToDate(signal: AbortSignal | undefined): Promise<readonly CheckedDocument[]>;
}

/**
 * An answer of Workspace.search(), with the state that the search saw.
 *
 * @example
 * const { stats, seen }: WorkspaceResponse = await tree.search({ query: "todo", matches: 0 });
 * if (seen.followed !== "notices") console.log("each search looks at the disk", stats.fileCount);
 */
export interface WorkspaceResponse extends SearchResponse {
  /** The state of the folder that the search saw. See Workspace.search(). */
  readonly seen: {
    /** The generation of the index. */
    readonly generation: number;
    /** The number of changed files and unsaved texts that were laid over the index. */
    readonly overlaid: number;
    /**
     * Whether the system reports changes for the whole tree. If not, each search reads from disk the parts for which
     * the system reports no changes.
     */
    readonly followed: "notices" | "polling" | "partly";
  };
}

/** An engine whose searches and reads see documents above the index. */
export interface OverlaidEngine {
  readonly engine: {
    search(request: SearchRequest, options: SearchOptions): Promise<SearchResponse>;
    stream(request: SearchRequest, options: SearchOptions): AsyncIterable<SearchEvent>;
    find(request: FindRequest, options: FindOptions): Promise<FindResponse>;
    read(file: { repository: string; path: string }): Promise<FileContent | undefined>;
  };
  /** The generation of the index below the documents that the last call has read. */
  readonly generation: () => number;
}

export interface WorkspaceEngine {
  /** The data directory. */
  readonly path: string;
  readonly maxFileSize: number;
  readonly bounds: WorkspaceBounds;
  readonly notices: MakeNotices;
  index(
    source: Source | Source[],
    options: { symbols?: "skip"; words?: "skip"; signal: AbortSignal },
  ): Promise<IndexReport[]>;
  over(documents: readonly CheckedDocument[]): OverlaidEngine;
  /**
   * Frees the texts of a repository that were laid over the index without posting lists. The next search that needs
   * such a text reads the file again.
   */
  release(repository: string): Promise<void>;
  /** Called when the workspace begins to close. */
  onClose(workspace: FollowedFolder): void;
}

/** The time in milliseconds that the index waits for further changes after each change. */
const QUIET_MS = 250;
/**
 * The maximum time that the index waits while changes continue. In the meantime, searches lay the changes over the
 * index.
 */
const MOST_WAIT_MS = 2_000;
/** The maximum time that the index waits because searches run. */
const MOST_DEFERRED_MS = 10_000;
/**
 * How long to wait before a failed index run is tried again. A run may fail because another process holds the lease.
 */
const RETRY_MS = 1_000;
/** The interval at which files that have just changed are looked at again, until their timestamps are conclusive. */
const YOUNG_MS = 20;
/** The interval between reads of the disk if no notices arrive. */
const POLL_MS = 2_000;
/**
 * The maximum number of times that a search waits for the index. After each wait, too many files may have changed
 * again.
 */
const MOST_ROUNDS = 5;

/** Opens a workspace. Resolves when the content of the folder is in the index. Symbols are added later. */
export async function openWorkspace(
  engine: WorkspaceEngine,
  path: string,
  given: WorkspaceOptions,
): Promise<FollowedFolder> {
  const { ignore = [], onIndexed, onWarning, signal, ...rest } = given;
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
  readonly onIndexed: (report: IndexReport) => void;
  readonly onWarning: (warning: { code: string; message: string }) => void;
  readonly signal: AbortSignal | undefined;
}

class FollowedTree implements FollowedFolder {
  readonly #engine: WorkspaceEngine;
  readonly #options: Followed;
  readonly #disk: DiskTree;
  readonly #onDisk: { readonly folder: string };
  /** The changes on disk that are not indexed yet. */
  readonly #pending = new Map<string, DiskEntry | undefined>();
  readonly #unsaved = new Map<string, CheckedDocument>();
  readonly #closing = new AbortController();
  /**
   * The documents to lay over the index, for all changes on disk and all unsaved texts. Undefined if they must be
   * made anew.
   */
  #documents: Promise<readonly CheckedDocument[]> | undefined;
  #refreshing: Promise<unknown> = Promise.resolve();
  #indexing: Promise<void> | undefined;
  /** The extraction of symbols that is running, and the controller that aborts it. */
  #symbols: { readonly done: Promise<void>; readonly stop: AbortController } | undefined;
  #lacksSymbols = true;
  #timer: NodeJS.Timeout | undefined;
  /** The time at which the timer ends. */
  #timerEnds = 0;
  /** The time at which the index is to catch up. If the timer ends earlier, it is set again. */
  #due = 0;
  /** The number of calls of search() that are running. */
  #answering = 0;
  /** The time of the first change with which the index has not caught up. */
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
      notices: (onLost) => engine.notices(options.tree.root, onLost),
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
      const documents = await this.upToDate(options.signal);
      const { followed } = this.#disk;
      const { engine, generation } = this.#engine.over(documents);
      const response = await engine.search(request, options);
      const seen = { generation: generation(), overlaid: documents.length, followed };
      return { ...response, seen };
    } finally {
      this.#answering--;
    }
  }

  async *stream(request: SearchRequest, options: SearchOptions = {}): AsyncGenerator<SearchEvent> {
    const { engine } = this.#engine.over(await this.upToDate(options.signal));
    yield* engine.stream(request, options);
  }

  async find(request: FindRequest, options: FindOptions = {}): Promise<FindResponse> {
    const { engine } = this.#engine.over(await this.upToDate(options.signal));
    return engine.find(request, options);
  }

  async read(path: string): Promise<FileContent | undefined> {
    const { engine } = this.#engine.over(await this.upToDate(undefined));
    return engine.read({ repository: this.repository, path });
  }

  set(path: string, content: string | Uint8Array): void {
    this.#mustBeOpen();
    const document = checkDocument({ repository: this.repository, path, content }, "set()");
    let bytes = document.text!.bytes - (this.#unsaved.get(path)?.text?.bytes ?? 0);
    for (const { text } of this.#unsaved.values()) bytes += text!.bytes;
    if (bytes > MOST_OVERLAY_BYTES)
      throw invalid(
        `set(): the unsaved texts have more than ${MOST_OVERLAY_BYTES / 2 ** 20} MiB; save some of them`,
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
    this.#engine.onClose(this);
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

  async upToDate(signal: AbortSignal | undefined): Promise<readonly CheckedDocument[]> {
    await this.#refresh();
    for (
      let round = 0;
      round < MOST_ROUNDS && this.#areMore(this.#engine.bounds.overlaid);
      round++
    ) {
      await unlessAborted(signal, this.#index(false));
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

  /**
   * Returns the text of a file on disk. The key of the text is the file's entry, because a file that changes gets a
   * new entry.
   */
  #textOnDisk(entry: DiskEntry | undefined, isPlain: boolean): CheckedDocument["text"] {
    if (entry?.kind === "file")
      return { key: entry, content: this.#onDisk, bytes: entry.size, isPlain };
    // a symbolic link is listed, but no search finds it
    if (!entry || entry.reason === "symlink") return undefined;
    return { key: entry, content: { skipped: entry.reason }, bytes: 0, isPlain };
  }

  /**
   * Refreshes the tree from disk. If `anew` is true, every file then counts as changed. Refreshes run one after
   * another. A call always starts a new one, because a refresh that has already begun may miss the newest changes.
   */
  #refresh(anew = false): Promise<void> {
    this.#mustBeOpen();
    const slice = new Slice({ signal: this.#closing.signal });
    const look = this.#refreshing.then(async () => {
      await this.#disk.refresh(slice, anew);
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

  /** Brings the index up to date with the disk. If an index run is already under way, the call waits for that run. */
  #index(isWhole: boolean): Promise<void> {
    this.#indexing ??= this.#run(isWhole).finally(() => (this.#indexing = undefined));
    return this.#indexing;
  }

  async #run(isWhole: boolean): Promise<void> {
    this.#symbols?.stop.abort();
    await this.#symbols?.done;
    let changes: Changes = new Map(this.#pending);
    const listAll = async () => (changes = await this.#listAll());
    const source = diskChanges(this.#options.tree, { changes, isWhole, listAll });
    const { signal } = this.#closing;
    const [report] = await this.#engine.index(source, { symbols: "skip", words: "skip", signal });
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

  /** Lists the whole tree again. */
  async #listAll(): Promise<Changes> {
    await this.#refresh(true);
    return new Map(this.#pending);
  }

  /** Extracts missing symbols. The next index run stops this early, so that content is indexed first. */
  #findSymbols(): Promise<void> {
    const stop = new AbortController();
    const either = new JoinedSignal([stop.signal, this.#closing.signal]);
    const { signal } = either;
    const done = this.#engine
      .index([], { signal })
      .then(() => void (this.#lacksSymbols = false))
      .catch((error: unknown) => this.#tell(error, signal))
      .finally(() => {
        either[Symbol.dispose]();
        this.#symbols = undefined;
      });
    this.#symbols = { done, stop };
    return done;
  }

  #waitForQuiet(): void {
    const now = performance.now();
    this.#changing ??= now;
    this.#later(Math.min(QUIET_MS, this.#changing + MOST_WAIT_MS - now));
  }

  /** Lets the index catch up after `ms` milliseconds. Replaces the time that an earlier call has set. */
  #later(ms: number): void {
    if (this.#closed) return;
    this.#due = performance.now() + ms;
    // a checkout sends a notice for each file, so a notice that only postpones the end does not reset the timer
    if (!this.#timer || this.#timerEnds > this.#due) this.#setTimer();
  }

  #setTimer(): void {
    clearTimeout(this.#timer);
    this.#timerEnds = this.#due;
    const end = () => {
      if (performance.now() < this.#due) this.#setTimer();
      else void this.#catchUp();
    };
    this.#timer = setTimeout(end, Math.max(0, this.#due - performance.now())).unref();
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
