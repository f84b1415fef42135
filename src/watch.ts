/**
 * Indexes sources again as they change, for hosts that need no freshness at each search: folders whenever
 * a file in them changes, git repositories when HEAD or a branch moves. Nothing is compared here: an index run of
 * what has not changed costs little, and finds nothing.
 */

import { readFile, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { QuernError } from "./base/errors.ts";
import { Slice } from "./base/yield.ts";
import type { Engine } from "./engine.ts";
import { locateRepository } from "./git/open-repository.ts";
import type { IndexReport } from "./ingest/run/report.ts";
import type { Source } from "./ingest/sources/source.ts";
import { invalid } from "./ingest/sources/metadata.ts";
import { DiskTree } from "./workspace/disk-tree.ts";
import { systemNotices, type Notices, type WatchedFolder } from "./workspace/notices.ts";

/**
 * How sources are watched.
 *
 * @example
 * const options: WatchOptions = { onIndexed: ({ repository }) => console.log(repository) };
 * await using watching = await watch(engine, [git("./shop")], options);
 */
export interface WatchOptions {
  /** Aborting stops the watch. */
  signal?: AbortSignal;
  /** Called after each index run, once for each source that was in it. */
  onIndexed?: (report: IndexReport) => void;
  /** Called when a run fails, or when the system gives no notices: then the source is looked at every few seconds. */
  onWarning?: (warning: {
    /** An ErrorCode, or 'NOT_FOLLOWED'. */
    code: string;
    /** For people. */
    message: string;
  }) => void;
}

/** After a change, for more to come. */
const QUIET_MS = 200;
/** Where no notices come. */
const POLL_MS = 5_000;

/**
 * Indexes sources, and again as they change. Resolves when the first index is made; the handle stops it.
 * Takes sources that come from a folder: git() and directory().
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
  const signal = options.signal ? AbortSignal.any([options.signal, stop.signal]) : stop.signal;
  const close = async () => {
    stop.abort();
    await Promise.all(watched.map((one) => one.close()));
  };
  try {
    for (const source of sources) {
      if (!source.origin)
        throw invalid(`watch: ${source.name} comes from no folder; give git() or directory()`);
      const one = new WatchedSource(engine, source, { ...options, signal });
      watched.push(one);
      await one.begin();
    }
  } catch (error) {
    await close();
    throw error;
  }
  signal.addEventListener("abort", () => void close(), { once: true });
  return { [Symbol.asyncDispose]: close };
}

class WatchedSource {
  readonly #engine: Engine;
  readonly #source: Source;
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
    this.#source = source;
    this.#options = options;
  }

  /** Follows first: what changes while the first index is made is seen after it. */
  async begin(): Promise<void> {
    const { signal } = this.#options;
    const origin = this.#source.origin!;
    const { folder } = origin;
    const isGit = "remote" in origin;
    const root = isGit ? (await locateRepository(folder, signal)).gitDir : await realpath(folder);
    const follow = isGit ? followRefs : followFiles;
    const followed = await follow(root, () => this.#later(QUIET_MS), signal);
    this.#stopFollowing = followed.close;
    if (!followed.hasNotices) this.#poll(folder);
    await this.#index();
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#stopFollowing();
    await this.#last;
  }

  #poll(folder: string): void {
    const message = `the system gives no notices of changes in ${folder}: it is looked at every ${POLL_MS / 1000} s`;
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
        .then(() => this.#index())
        .catch((error: unknown) => this.#tell(error));
    }, ms);
    this.#timer.unref();
  }

  async #index(): Promise<void> {
    const { signal, onIndexed } = this.#options;
    for (const report of await this.#engine.index(this.#source, { signal })) onIndexed?.(report);
  }

  #tell(error: unknown): void {
    if (this.#options.signal.aborted) return;
    const code = error instanceof QuernError ? error.code : "INTERNAL";
    const message = error instanceof Error ? error.message : String(error);
    this.#options.onWarning?.({ code, message });
    this.#later(POLL_MS); // another process may hold the lease
  }
}

interface Followed {
  readonly hasNotices: boolean;
  readonly close: () => void;
}

/** Calls when anything below the folder changes that no rule excludes. */
async function followFiles(
  root: string,
  onChange: () => void,
  signal: AbortSignal,
): Promise<Followed> {
  let isBegun = false;
  let refreshing: Promise<unknown> = Promise.resolve();
  const tree = new DiskTree({
    root,
    patterns: [],
    maxFileSize: Infinity,
    notices: (onLost) => systemNotices(root, onLost),
    onChange: () => isBegun && onChange(),
    // looked at only to watch folders that come
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

/** Calls when HEAD or a ref of the repository moves. */
async function followRefs(
  gitDir: string,
  onChange: () => void,
  signal: AbortSignal,
): Promise<Followed> {
  const notices: Notices = systemNotices(gitDir, onChange);
  const listener = {
    changed: (name: string | undefined) => {
      if (name === undefined || /^(?:HEAD|packed-refs|refs)$/.test(name)) onChange();
    },
    ended: () => {},
  };
  const head: WatchedFolder | undefined = notices.watch(gitDir, listener);
  const common = await commonFolder(gitDir);
  const packed = notices.watch(common, listener);
  const refs = await followFiles(join(common, "refs"), onChange, signal);
  return {
    hasNotices: head !== undefined && refs.hasNotices,
    close: () => {
      refs.close();
      notices.close();
      head?.close();
      packed?.close();
    },
  };
}

/** Where the branches are: a linked work tree has its own HEAD, and shares them. */
async function commonFolder(gitDir: string): Promise<string> {
  const text = await readFile(join(gitDir, "commondir"), "utf8").catch(() => ".");
  return resolve(gitDir, text.trim());
}
