/**
 * Implements directory({ git: true }), which lists the files of a git work tree as they are on disk. The list has the
 * files that git tracks and those that git would add. All of git's rules apply, including `.git/info/exclude`. The
 * only revision is named after the current branch, or after the commit if HEAD is detached.
 *
 * `git ls-files` lists the paths, and no git objects are read. As in git, a path through a symlink is left out,
 * because the symlink's target may be anywhere.
 */

import { lstatSync, type BigIntStats } from "node:fs";
import { basename, join, resolve } from "node:path";
import { throwIfOutOfFiles } from "../../base/out-of-files.ts";
import { HeldFolder } from "../../base/no-follow.ts";
import { isValidPath, printablePath } from "../../base/paths.ts";
import { Slice } from "../../base/yield.ts";
import { GitProcesses } from "../../git/git-process.ts";
import { locateRepository } from "../../git/open-repository.ts";
import type { Entry, Listing, ListingOptions } from "./source.ts";
import { versionOf } from "./walk.ts";

const BATCH = 256;
const REVISIONS = [0] as const;

/**
 * Lists the files of a work tree. `root` is the top folder of the work tree. Rejects with NOT_A_GIT_REPOSITORY or
 * GIT_MISSING.
 */
export async function listWorkTree(root: string, options: ListingOptions): Promise<Listing> {
  const { folder } = await locateRepository(root, options.signal);
  const git = new GitProcesses(folder, options.signal);
  return {
    revisions: [{ name: await branchOf(git) }],
    entries: () => entries(git, options),
    close: async () => git.kill(),
    hasShortVersions: true,
  };
}

async function branchOf(git: GitProcesses): Promise<string> {
  const branch = await git.run(["symbolic-ref", "--quiet", "--short", "HEAD"]);
  if (branch.code === 0) return branch.stdout.trim();
  const { stdout } = await git.run(["rev-parse", "HEAD"]);
  return stdout.trim();
}

async function* entries(
  git: GitProcesses,
  { signal, maxFileSize }: ListingOptions,
): AsyncGenerator<Entry[]> {
  const slice = new Slice({ signal });
  const look = new Look(git.folder, maxFileSize);
  try {
    yield* lookAtAll(git, look, slice);
  } finally {
    look.close();
  }
}

async function* lookAtAll(git: GitProcesses, look: Look, slice: Slice): AsyncGenerator<Entry[]> {
  const listing = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  let batch: Entry[] = [];
  for await (const records of git.records(listing))
    for (const path of records.toString().split("\0")) {
      if (slice.isOver) await slice.rest();
      const entry = look.at(path);
      if (!entry || batch.push(entry) < BATCH) continue;
      yield batch;
      batch = [];
    }
  yield batch;
}

/** Makes entries of a listing. git supplies the paths, and everything else is read from the files on disk. */
class Look {
  readonly #root: string;
  readonly #maxFileSize: number;
  readonly #now = Date.now();
  /** The paths that were seen so far. git lists an unmerged file several times, once for each side of the merge. */
  readonly #seen = new Set<string>();
  /** For each path at which a folder is expected, true if it is a folder and not a symlink. */
  readonly #folders = new Map<string, boolean>([["", true]]);
  /** The open folder of the last file. git lists the files of a folder one after another. */
  readonly #held = new HeldFolder();

  constructor(root: string, maxFileSize: number) {
    this.#root = root;
    this.#maxFileSize = maxFileSize;
  }

  /** Returns the entry for a path, or undefined if the path no longer exists or was listed before. */
  at(listed: string): Entry | undefined {
    const path = listed.replace(/\/$/, ""); // a slash marks a nested repository, whose content git does not list
    if (this.#seen.has(path)) return undefined;
    this.#seen.add(path);
    const skipped = (
      reason: "invalid-path" | "submodule" | "symlink" | "unreadable" | "too-large",
    ) => ({ kind: "skipped", path, revisions: REVISIONS, reason }) as const;
    if (!isValidPath(path)) return { ...skipped("invalid-path"), path: printablePath(path) };
    const stat = this.#isFolder(folderOf(path)) ? this.#stat(path) : undefined;
    if (!stat) return undefined;
    if (stat.isDirectory()) return skipped("submodule");
    if (stat.isSymbolicLink()) return skipped("symlink");
    if (!stat.isFile()) return skipped("unreadable");
    if (stat.size > this.#maxFileSize) return skipped("too-large");
    const version = versionOf(stat, this.#now);
    return {
      kind: "file",
      path,
      revisions: REVISIONS,
      ...(version === undefined ? {} : { version }),
      size: Number(stat.size),
      content: { file: join(this.#root, path), isPinned: true },
    };
  }

  #isFolder(path: string): boolean {
    let isOne = this.#folders.get(path);
    if (isOne === undefined) {
      isOne = this.#isFolder(folderOf(path)) && (this.#stat(path)?.isDirectory() ?? false);
      this.#folders.set(path, isOne);
    }
    return isOne;
  }

  #stat(path: string): BigIntStats | undefined {
    try {
      const place = this.#held.open(resolve(this.#root, folderOf(path)));
      return place === undefined
        ? undefined
        : lstatSync(join(place, basename(path)), { bigint: true });
    } catch (error) {
      throwIfOutOfFiles(error);
      return undefined;
    }
  }

  close(): void {
    this.#held.close();
  }
}

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));
