/**
 * Follows changes in the paths of `quern mcp`. Folders and work trees are watched, so each answer reflects the files
 * on disk. Bare repositories, and repositories with several indexed revisions, are indexed again when their branches
 * move. Until a path is ready, each answer contains a note about what may be missing.
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { QuernError } from "../base/errors.ts";
import { coreOf } from "../core-of.ts";
import { EngineFacade } from "../engine-facade.ts";
import type { Engine } from "../engine.ts";
import type { IndexProgress } from "../ingest/run/report.ts";
import { directory } from "../ingest/sources/directory.ts";
import type { Source } from "../ingest/sources/source.ts";
import type { Repository } from "../repository.ts";
import { checkPaths, ignored, sourcesOf } from "./index-sources.ts";
import type { Io } from "./io.ts";
import type { CommonFlags } from "./call.ts";
import { count } from "./style.ts";

/** The paths to follow, and the flags of the command. */
export interface FollowedPaths {
  readonly paths: readonly string[];
  readonly flags: CommonFlags;
}

export interface Followed {
  /** An engine whose answers reflect the files on disk. */
  readonly engine: Engine;
  /** Returns notes about what may be missing from answers at the moment. */
  readonly behind: () => readonly string[];
  readonly done: Promise<void>;
}

interface Following {
  readonly engine: Engine;
  readonly io: Io;
  readonly signal: AbortSignal;
  /** The notes that each answer contains, by path. */
  readonly words: Map<string, string>;
}

/**
 * The interval between attempts while another process writes to the index. That process may be indexing the same
 * path.
 */
const RETRY_MS = 2_000;

interface FollowOptions {
  readonly io: Io;
  readonly signal: AbortSignal;
  /** No path is read before this promise resolves. */
  readonly begin: Promise<void>;
}

export function follow(
  engine: Engine,
  { paths, flags }: FollowedPaths,
  { io, signal, begin }: FollowOptions,
): Followed {
  const following: Following = { engine, io, signal, words: new Map() };
  for (const path of paths)
    following.words.set(
      path,
      `INCOMPLETE: ${path} is still being indexed: new content is missing.`,
    );
  return {
    engine: new EngineFacade(coreOf(engine).upToDate()),
    behind: () => [...following.words.values()],
    done: followAll({ paths, flags }, { following, begin }),
  };
}

async function followAll(
  { paths, flags }: FollowedPaths,
  { following, begin }: { readonly following: Following; readonly begin: Promise<void> },
): Promise<void> {
  const { engine, signal } = following;
  if (paths.length === 0) return;
  try {
    checkPaths(paths, flags);
    await begin;
    const repositories = await engine.repositories();
    const sources = await sourcesOf(paths, { flags, repositories, signal });
    for (const [i, path] of paths.entries()) {
      const { name } = sources[i]!;
      const known = repositories.find((one) => one.name === name);
      await followPath(path, { source: sources[i]!, known }, following);
    }
  } catch (error) {
    for (const path of paths) giveUp(path, error, following);
  }
}

interface Found {
  readonly source: Source;
  readonly known: Repository | undefined;
}

async function followPath(path: string, found: Found, following: Following): Promise<void> {
  const { signal, words } = following;
  for (;;)
    try {
      if (isOfCommits(path, found.known)) return await watchCommits(path, found, following);
      return await followDisk(path, found, following);
    } catch (error) {
      const isLocked = error instanceof QuernError && error.code === "INDEX_LOCKED";
      if (!isLocked || signal.aborted) return giveUp(path, error, following);
      words.set(path, wordsWhileLocked(path, found));
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
}

/**
 * Returns the note for a path that must wait while another process writes to the index. If the path was never
 * indexed, nothing in it can be found yet.
 */
function wordsWhileLocked(path: string, { known }: Found): string {
  const lacking = known
    ? "changes of the last seconds may be missing"
    : "none of its changes is known";
  return `INCOMPLETE: another process writes the index, and ${path} waits for it: ${lacking}.`;
}

/**
 * Whether only the commits of a repository are indexed, and not its files on disk. This is so if the repository is
 * bare, if several revisions are indexed, or if somebody named its revisions.
 */
function isOfCommits(path: string, known: Repository | undefined): boolean {
  const isWorkTree = existsSync(join(path, ".git"));
  const isBare = !isWorkTree && existsSync(join(path, "HEAD")) && existsSync(join(path, "refs"));
  const hasRevisions = known !== undefined && known.revisions.length > 1;
  return isBare || hasRevisions || known?.origin?.revisions !== undefined;
}

async function watchCommits(path: string, { source }: Found, following: Following): Promise<void> {
  const { engine, io, signal, words } = following;
  const { watch } = await import("../watch.ts");
  const onWarning = ({ message }: { message: string }) => tell(io, message);
  await watch(engine, [source], { signal, onWarning });
  const one = await engine.repository(source.name);
  const revisions = one?.revisions.map(({ name }) => name).join(", ") ?? "";
  words.set(
    path,
    `Of ${source.name} only commits are searched (${revisions}): uncommitted changes are not included.`,
  );
}

/**
 * Follows a folder. If the folder is new, indexes it first, because an index run reports its progress and a workspace
 * does not.
 */
async function followDisk(path: string, found: Found, following: Following): Promise<void> {
  const { engine, io, signal, words } = following;
  const { name } = found.source;
  const begun = words.get(path)!;
  const onProgress = ({ done, total }: IndexProgress): void => {
    words.set(path, `${begun} So far ${done} of ${count(total, "file")}.`);
  };
  if (!found.known)
    await engine.index(directory(path, { name, ignore: ignored(path, { db: engine.path }) }), {
      symbols: "skip",
      signal,
      onProgress,
    });
  const onWarning = ({ message }: { message: string }) => tell(io, message);
  await engine.workspace(path, { name, signal, onWarning });
  words.delete(path);
}

function giveUp(path: string, error: unknown, { io, signal, words }: Following): void {
  if (signal.aborted) return;
  const { message } = error as Error;
  tell(io, message);
  words.set(path, `INCOMPLETE: ${path} could not be indexed: ${message}`);
}

const tell = (io: Io, message: string): void => {
  io.stderr.write(`quern: ${message}\n`);
};
