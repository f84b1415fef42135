/**
 * Indexes sources again when they change, for hosts whose searches need not be fully up to date. A folder is indexed
 * when a file in it changes, and a git repository when HEAD, a branch or a tag moves. A watch does not find out what
 * has changed. It starts an index run, because an index run without changes is cheap.
 */

import { existsSync } from "node:fs";
import { readFile, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { JoinedSignal } from "./base/joined-signal.ts";
import { invalid, QuernError } from "./base/errors.ts";
import { Slice } from "./base/yield.ts";
import type { Engine } from "./engine.ts";
import { locateRepository } from "./git/open-repository.ts";
import type { IndexReport } from "./ingest/run/report.ts";
import type { FolderRules, Source } from "./ingest/sources/source.ts";
import { DiskTree } from "./workspace/disk-tree.ts";
import { systemNotices } from "./workspace/notices.ts";

/**
 * Options of watch().
 *
 * @example
 * const options: WatchOptions = { onIndexed: ({ repository }) => console.log(repository) };
 * await using watching = await watch(engine, [git("./shop")], options);
 */
export interface WatchOptions {
  /** Aborting stops the watch. */
  signal?: AbortSignal;
  /**
   * When symbols are extracted. With 'after' (default), each run publishes the content first, and then extracts
   * symbols. With 'skip', no symbols are extracted.
   */
  symbols?: "after" | "skip";
  /** Called after each index run, once for each source of the run. */
  onIndexed?: (report: IndexReport) => void;
  /**
   * Called when a run fails. Also called if the operating system cannot report changes in a source. Such a source is
   * indexed again every few seconds.
   */
  onWarning?: (warning: {
    /** An ErrorCode, or 'NOT_FOLLOWED' if the operating system cannot report changes. */
    code: string;
    /** A message for people. */
    message: string;
  }) => void;
}

/**
 * How long a change waits before it is indexed, in milliseconds. The same run indexes further changes that arrive in
 * this time.
 */
const QUIET_MS = 200;
/**
 * The interval between index runs if the system sends no notifications, and the wait after a failed run, in
 * milliseconds.
 */
const POLL_MS = 5_000;

/**
 * Indexes the sources, and then each source again whenever it changes. Resolves when the first run has ended.
 * Disposing of the returned handle stops the watch. Accepts sources with an `origin`, such as those that
 * git() and directory() return.
 *
 * @example
 * await using watching = await watch(engine, [git("./shop"), directory("./notes")]);
 */
export async function watch(
  engine: Engine,
  sources: Iterable<Source>,
  options: WatchOptions = {},
): Promise<AsyncDisposable> {
  const watched: WatchedSource[] = [];
  const stop = new AbortController();
  const either = new JoinedSignal([options.signal, stop.signal]);
  const { signal } = either;
  const close = async () => {
    stop.abort();
    either[Symbol.dispose]();
    await Promise.all(watched.map((one) => one.close()));
  };
  try {
    for (const source of sources) {
      if (!source.origin)
        throw invalid(
          `watch: ${source.name} does not come from a folder; give git() or directory()`,
        );
      const one = new WatchedSource(engine, source, { ...options, signal });
      watched.push(one);
      await one.follow();
    }
    // a change from now on starts another run, after this one
    await indexAll(
      engine,
      watched.map((one) => one.source),
      { ...options, signal },
    );
  } catch (error) {
    await close();
    throw error;
  }
  signal.addEventListener("abort", () => void close(), { once: true });
  return { [Symbol.asyncDispose]: close };
}

async function indexAll(
  engine: Engine,
  sources: Source[],
  { signal, symbols = "after", onIndexed }: WatchOptions & { readonly signal: AbortSignal },
): Promise<void> {
  for (const report of await engine.index(sources, { signal, symbols })) onIndexed?.(report);
}

class WatchedSource {
  readonly source: Source;
  readonly #engine: Engine;
  readonly #options: WatchOptions & { readonly signal: AbortSignal };
  #stopFollowing: () => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    engine: Engine,
    source: Source,
    options: WatchOptions & { readonly signal: AbortSignal },
  ) {
    this.#engine = engine;
    this.source = source;
    this.#options = options;
  }

  async follow(): Promise<void> {
    const { folder } = this.source.origin!;
    const dataFolder = await realpath(this.#engine.path);
    const follower = {
      dataFolder,
      onChange: () => this.#later(QUIET_MS),
      signal: this.#options.signal,
    };
    const followed = await followSource(this.source, follower);
    this.#stopFollowing = followed.close;
    if (!followed.hasNotices) this.#poll(folder);
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#stopFollowing();
    await this.#last;
  }

  #poll(folder: string): void {
    const message = `the system does not report changes in ${folder}: it is looked at every ${POLL_MS / 1000} s`;
    this.#options.onWarning?.({ code: "NOT_FOLLOWED", message });
    const again = () => {
      this.#later(0);
      if (!this.#options.signal.aborted) setTimeout(again, POLL_MS).unref();
    };
    setTimeout(again, POLL_MS).unref();
  }

  #later(ms: number): void {
    if (this.#timer || this.#options.signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#last = this.#last
        .then(() => indexAll(this.#engine, [this.source], this.#options))
        .catch((error: unknown) => this.#tell(error));
    }, ms);
    this.#timer.unref();
  }

  #tell(error: unknown): void {
    if (this.#options.signal.aborted) return;
    const code = error instanceof QuernError ? error.code : "INTERNAL";
    const message = error instanceof Error ? error.message : String(error);
    this.#options.onWarning?.({ code, message });
    this.#later(POLL_MS); // tries again, because another process may have held the lease
  }
}

interface Followed {
  readonly hasNotices: boolean;
  readonly close: () => void;
}

interface Follower {
  readonly dataFolder: string;
  readonly onChange: () => void;
  readonly signal: AbortSignal;
}

/** The rules of a source that states none. */
const ALL: FolderRules = { ignore: [], gitignore: false };

/**
 * Watches for changes in the files that a source lists. For the committed files of git(), watches the repository's
 * refs. For directory(), watches the files on disk, and in a git work tree also the files that decide what git
 * tracks.
 */
async function followSource(source: Source, follower: Follower): Promise<Followed> {
  const { folder, ...origin } = source.origin!;
  if ("remote" in origin) {
    const { gitDir } = await locateRepository(folder, follower.signal);
    return followRefs(gitDir, follower);
  }
  const { rules = ALL } = origin;
  const files = await followFiles(await realpath(folder), rules, follower);
  if (!rules.git) return files;
  const { gitDir } = await locateRepository(folder, follower.signal);
  return both(files, await followGitRules(gitDir, follower));
}

const both = (one: Followed, other: Followed): Followed => ({
  hasNotices: one.hasNotices && other.hasNotices,
  close: () => {
    one.close();
    other.close();
  },
});

/** Calls `onChange` when a file or folder below `root` changes, unless a rule excludes it. */
async function followFiles(
  root: string,
  { ignore, gitignore }: FolderRules,
  { dataFolder, onChange, signal }: Follower,
): Promise<Followed> {
  let isBegun = false;
  let refreshing: Promise<unknown> = Promise.resolve();
  const tree = new DiskTree({
    root,
    patterns: ignore,
    gitignore,
    dataFolder,
    maxFileSize: Infinity,
    notices: (onLost) => systemNotices(root, onLost),
    onChange: () => isBegun && onChange(),
    // a refresh calls `onChange` for each change, and finds new folders to watch
    onNotice: () => {
      refreshing = refreshing
        .then(() => tree.refresh(new Slice({ signal })))
        .catch(() => undefined);
    },
  });
  await tree.refresh(new Slice({ signal }));
  isBegun = true;
  return { hasNotices: tree.followed === "notices", close: () => tree.close() };
}

/** Calls `onChange` when HEAD or a ref of the repository moves. */
async function followRefs(gitDir: string, follower: Follower): Promise<Followed> {
  const common = await commonFolder(gitDir);
  const names = /^(?:HEAD|packed-refs|refs)$/;
  const heads = both(
    followNames(gitDir, names, follower.onChange),
    followNames(common, names, follower.onChange),
  );
  return both(heads, await followFiles(join(common, "refs"), ALL, follower));
}

/** Calls `onChange` when git's index, its exclude rules or the checked-out branch change. */
async function followGitRules(gitDir: string, { onChange }: Follower): Promise<Followed> {
  const info = join(await commonFolder(gitDir), "info");
  const own = followNames(gitDir, /^(?:HEAD|index)$/, onChange);
  return existsSync(info) ? both(own, followNames(info, /^exclude$/, onChange)) : own;
}

/** Calls `onChange` when an entry of the folder changes, if the entry's name matches `names` or is unknown. */
function followNames(folder: string, names: RegExp, onChange: () => void): Followed {
  const notices = systemNotices(folder, onChange);
  const watched = notices.watch(folder, {
    changed: (name) => {
      if (name === undefined || names.test(name)) onChange();
    },
    ended: () => {},
  });
  return {
    hasNotices: watched !== undefined,
    close: () => {
      watched?.close();
      notices.close();
    },
  };
}

/**
 * Resolves to the folder that contains the refs. A linked work tree has its own HEAD, but shares the refs of the main
 * work tree.
 */
async function commonFolder(gitDir: string): Promise<string> {
  const text = await readFile(join(gitDir, "commondir"), "utf8").catch(() => ".");
  return resolve(gitDir, text.trim());
}
