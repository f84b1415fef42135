/**
 * directory({ git: true }): the files of a git work tree as they are on the disk, those that git tracks and
 * those that it would add, by all of its rules (also those outside the folder, such as
 * `.git/info/exclude`). The one revision bears the name of the branch, or of the commit where HEAD is on none.
 *
 * `git ls-files` lists; nothing of git's objects is read. A path that leads through a link is left out, as
 * git does: what is behind it may lie anywhere.
 */

import { lstatSync, type BigIntStats } from "node:fs";
import { basename, join, resolve } from "node:path";
import { HeldFolder } from "../../base/no-follow.ts";
import { isValidPath, shownPath } from "../../base/paths.ts";
import { Slice } from "../../base/yield.ts";
import { GitProcesses } from "../../git/git-process.ts";
import { locateRepository } from "../../git/open-repository.ts";
import type { Entry, Listing, ListingOptions } from "./source.ts";
import { versionOf } from "./walk.ts";

const BATCH = 256;
const REVISIONS = [0] as const;

/** Lists the work tree at `root`, its top folder. Rejects with NOT_A_GIT_REPOSITORY or GIT_MISSING. */
export async function listWorkTree(root: string, options: ListingOptions): Promise<Listing> {
  const { folder } = await locateRepository(root, options.signal);
  const git = new GitProcesses(folder, options.signal);
  return {
    revisions: [{ name: await branchOf(git) }],
    entries: () => entries(git, options),
    close: async () => git.kill(),
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

/** Looks at paths on the disk. */
class Look {
  readonly #root: string;
  readonly #maxFileSize: number;
  readonly #now = Date.now();
  /** An unmerged file is listed once for each side. */
  readonly #seen = new Set<string>();
  /** Whether a folder is one, and no link. */
  readonly #folders = new Map<string, boolean>([["", true]]);
  /** git lists what is in a folder one after another. */
  readonly #held = new HeldFolder();
  #heldPath: string | undefined;
  #place: string | undefined;

  constructor(root: string, maxFileSize: number) {
    this.#root = root;
    this.#maxFileSize = maxFileSize;
  }

  /** undefined: it is not there any more, or it was seen. */
  at(listed: string): Entry | undefined {
    const path = listed.replace(/\/$/, ""); // a repository within, which git does not look into
    if (this.#seen.has(path)) return undefined;
    this.#seen.add(path);
    const skipped = (
      reason: "invalid-path" | "submodule" | "symlink" | "unreadable" | "too-large",
    ) => ({ kind: "skipped", path, revisions: REVISIONS, reason }) as const;
    if (!isValidPath(path)) return { ...skipped("invalid-path"), path: shownPath(path) };
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
      const place = this.#placeOf(folderOf(path));
      return place === undefined
        ? undefined
        : lstatSync(join(place, basename(path)), { bigint: true });
    } catch {
      return undefined;
    }
  }

  /** undefined: a folder on the way is a link by now. */
  #placeOf(folder: string): string | undefined {
    if (folder === this.#heldPath) return this.#place;
    this.#heldPath = this.#place = undefined; // it may not be there
    this.#place = this.#held.open(resolve(this.#root, folder));
    this.#heldPath = folder;
    return this.#place;
  }

  close(): void {
    this.#held.close();
  }
}

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));
