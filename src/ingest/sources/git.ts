/**
 * Implements git(), which lists the committed files of one or more revisions of a git repository. The repository may
 * be bare or have a work tree, but the work tree and git's index are ignored. All data is read with the git command.
 *
 * If an indexed revision can serve as the base of a revision, only the differences from the base are listed. Revisions
 * without a base are listed in full. The lists of several revisions are merged into one. The version of a file is the
 * id of its git object.
 *
 * The path must be the top folder of a repository, its .git folder, or a bare repository. Parent folders are not
 * searched for a repository.
 */

import { basename, dirname, resolve } from "node:path";
import { invalid, QuernError } from "../../base/errors.ts";
import type { RepositoryMetadata } from "../../store/format/records.ts";
import { isGone, unreadableFolder } from "../../base/folder-errors.ts";
import { commitOfRef, isDamagedRef } from "../../git/commit-of-ref.ts";
import { mustStayInside } from "../../git/inside.ts";
import { ObjectReader, OBJECT_LIMITS } from "../../git/git-objects.ts";
import { openRepository } from "../../git/open-repository.ts";
import type { GitProcesses } from "../../git/git-process.ts";
import { expandPatterns, isFullPattern, isPattern, listRefs } from "../../git/ref-patterns.ts";
import { readRemote } from "../../git/remote-name.ts";
import {
  isFile,
  listChanges,
  listTree,
  mergeTrees,
  missingObjects,
  type MergedRecord,
  type TreeRecord,
} from "../../git/git-trees.ts";
import {
  checkedDiskPath,
  checkedMetadata,
  checkedName,
  checkedOptions,
  formatValue,
} from "./metadata.ts";
import { checkKeys } from "../../base/known-keys.ts";
import { Slice } from "../../base/yield.ts";
import { isValidPath, printablePath } from "../../base/paths.ts";
import type {
  Entry,
  HistoryLimits,
  Indexed,
  ListedRevision,
  Listing,
  ListingOptions,
  Source,
} from "./source.ts";

/**
 * Options of git().
 *
 * @example
 * const options: GitOptions = {
 *   name: "acme/shop",
 *   revisions: ["main", "v2.0"],
 *   codeHostType: "github",
 *   webUrl: "https://github.com/acme/shop",
 * };
 */
export type GitOptions = RepositoryMetadata & {
  /** The repository's name. Default: the folder's name without `.git`. */
  name?: string;
  /**
   * The branches, tags or commits to index. The first one is the default revision. The pattern `release-*` stands for
   * all branches and tags that match it, and `refs/heads/*` for all branches. Default: the branch that HEAD is on, or
   * 'HEAD' if HEAD is detached.
   */
  revisions?: string[];
  /**
   * Set this to false for a repository that you do not trust. Then index() rejects with SOURCE_UNREADABLE if anything
   * in the repository refers to a file outside its folder. Default true.
   */
  trusted?: boolean;
  /**
   * Whether the history of the revisions is indexed as well, so that `type:diff` and `type:commit` search it. Limits
   * may be given instead of true. Default false. A later run without this option drops the history.
   */
  history?: boolean | HistoryLimits;
};

/**
 * Makes a source of the committed files of a git repository, which may be bare or have a work tree. The files are
 * read with the git command. A later run with the same name replaces the set of revisions, and reads only the files
 * that have changed.
 *
 * @example
 * await engine.index([git("./shop", { revisions: ["main", "v2.0"] }), git("./ledger.git")]);
 */
export function git(path: string, options: GitOptions = {}): Source {
  checkedOptions("git", options, ["revisions", "trusted", "history"]);
  const folder = resolve(checkedDiskPath("git", path));
  const name = checkedName("git", options.name ?? defaultName(folder));
  const metadata = checkedMetadata("git", options);
  const revisions = checkedRevisions(options.revisions);
  const history = checkedHistory(options.history);
  const { trusted = true } = options;
  if (typeof trusted !== "boolean") throw invalid("git: trusted must be a boolean");
  const look = async (signal: AbortSignal) => {
    if (!trusted) await mustBeOwn(folder, signal);
  };
  return {
    name,
    metadata,
    ...(history && { history }),
    origin: {
      folder: basename(folder) === ".git" ? dirname(folder) : folder,
      ...(revisions && { revisions }),
      remote: async (signal) => {
        await look(signal);
        return readRemote(folder, signal);
      },
    },
    open: async (indexed, listing) => {
      await look(listing.signal);
      return open(folder, revisions, indexed, listing);
    },
  };
}

function checkedHistory(history: unknown): HistoryLimits | undefined {
  if (history === undefined || history === false) return undefined;
  if (history === true) return {};
  if (typeof history !== "object" || history === null)
    throw invalid(`git: history must be true, false or limits, not ${formatValue(history)}`);
  const limits = { since: true, commits: true } as const;
  checkKeys({ call: "git: history", what: "field" }, history, limits);
  const { since, commits } = history as { since?: unknown; commits?: unknown };
  if (since !== undefined && !(typeof since === "string" && Number.isFinite(Date.parse(since))))
    throw invalid(
      `git: history.since must be a date such as 2024-01-01, not ${formatValue(since)}`,
    );
  if (commits !== undefined && !(Number.isSafeInteger(commits) && (commits as number) > 0))
    throw invalid(
      `git: history.commits must be a whole number of 1 or more, not ${formatValue(commits)}`,
    );
  return {
    ...(since !== undefined && { since: new Date(since).toISOString() }),
    ...(commits !== undefined && { commits: commits as number }),
  };
}

/**
 * Resolves to the name of a repository on its code host, such as `github.com/acme/shop`. The name is taken from the
 * address of the remote `origin`. If the repository has only one remote, that remote is used, whatever its name is.
 * Resolves to undefined if there is no such remote, no repository, or no host in the address.
 *
 * @example
 * const name = (await remoteOf("./shop")) ?? "shop";
 * await engine.index(git("./shop", { name }));
 */
export async function remoteOf(
  path: string,
  options: {
    /** If this signal is aborted, remoteOf() rejects with ABORTED. */
    signal?: AbortSignal;
  } = {},
): Promise<string | undefined> {
  checkKeys({ call: "remoteOf", what: "option" }, options, { signal: true });
  const folder = resolve(checkedDiskPath("remoteOf", path));
  return readRemote(folder, options.signal ?? new AbortController().signal);
}

/**
 * Rejects with SOURCE_UNREADABLE if anything in the repository refers to a file outside the folder, or if the folder
 * cannot be read. A folder that does not exist is accepted here, because openRepository() rejects it later.
 */
async function mustBeOwn(folder: string, signal: AbortSignal): Promise<void> {
  try {
    await mustStayInside(folder, signal);
  } catch (error) {
    if (error instanceof QuernError) throw error;
    if (!isGone(error)) throw unreadableFolder(folder, error);
  }
}

function defaultName(folder: string): string {
  const own = basename(folder);
  return own === ".git" ? basename(dirname(folder)) : own.replace(/\.git$/, "");
}

const MAX_REVISION_BYTES = 512;

function checkedRevisions(revisions: unknown): string[] | undefined {
  if (revisions === undefined) return undefined;
  if (!Array.isArray(revisions) || revisions.length === 0) {
    throw invalid(
      "git: revisions must be an array with at least one name of a branch, tag or commit",
    );
  }
  revisions.forEach((name: unknown, i) => {
    const isName =
      typeof name === "string" && name !== "" && Buffer.byteLength(name) <= MAX_REVISION_BYTES;
    if (!isName || /[\p{Cc}\p{Cs}]/u.test(name)) {
      throw invalid(
        `git: revisions[${i}] must be the name of a branch, tag or commit, or a pattern, not ${formatValue(name)}`,
      );
    }
    if (revisions.indexOf(name) !== i)
      throw invalid(`git: revisions names ${formatValue(name)} twice`);
  });
  return [...revisions];
}

async function open(
  folder: string,
  names: readonly string[] | undefined,
  indexed: Indexed,
  options: ListingOptions,
): Promise<Listing> {
  const processes = await openRepository(folder, options.signal);
  const headers = new ObjectReader(processes, "--batch-check");
  const limits = { ...OBJECT_LIMITS, maxSize: Math.max(options.maxFileSize, 1 << 20) };
  const objects = new ObjectReader(processes, "--batch", limits);
  const close = async () => {
    headers.close();
    objects.close();
    processes.kill();
  };
  try {
    const wanted = await namesOf(folder, processes, names);
    const from = { processes, headers, objects };
    const found = await Promise.all(wanted.map((name) => resolveRevision(from, name)));
    processes.throwIfOver();
    const missing = wanted.findIndex((_, i) => found[i] === undefined);
    if (missing !== -1) {
      const name = wanted[missing]!;
      await refuseDamaged(from, name);
      throw noRevision(folder, name, names === undefined);
    }
    const bases = await knownBases(headers, indexed);
    const revisions = found.map((revision) => withBase(revision!, bases));
    const commits = revisions.map(({ commit }) => commit);
    const absent = await missingObjects(processes, commits);
    const listing = new GitListing({
      processes,
      headers,
      objects,
      revisions,
      bases,
      absent,
      options,
    });
    return { revisions, gitFolder: folder, entries: () => listing.entries(), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Resolves to the names of the revisions to list. Patterns are replaced by the names that match them. */
async function namesOf(
  folder: string,
  processes: GitProcesses,
  names: readonly string[] | undefined,
): Promise<readonly string[]> {
  if (names === undefined) return [await headBranch(processes)];
  if (!names.some(isPattern)) return names;
  const head = await headBranch(processes);
  const expanded = expandPatterns(names, await listRefs(processes), head);
  const missing = expanded.unmatched.find((name) => !isFullPattern(name));
  if (missing !== undefined || expanded.names.length === 0)
    throw noRevision(folder, missing ?? names[0]!, false);
  return expanded.names;
}

/** Resolves to the name of HEAD's branch, even if it has no commit, or to 'HEAD' if HEAD is detached. */
async function headBranch(processes: GitProcesses): Promise<string> {
  const { code, stdout } = await processes.run(["symbolic-ref", "-q", "HEAD"]);
  const target = stdout.replace(/\r?\n$/, "");
  if (code !== 0 || target === "") return "HEAD";
  return target.replace(/^refs\/heads\//, "");
}

function noRevision(folder: string, name: string, isHead: boolean): QuernError {
  const message = isHead
    ? `the repository ${folder} has no commit on ${formatValue(name)}, the branch HEAD is on; commit something, or name other revisions`
    : `the repository ${folder} has no branch, tag or commit ${formatValue(name)}; git branch --all and git tag list them`;
  return new QuernError("REVISION_NOT_FOUND", message);
}

/** Rejects with SOURCE_UNREADABLE if a branch or tag of this name exists, but its commit cannot be read. */
async function refuseDamaged(
  from: Pick<Parts, "processes" | "headers">,
  name: string,
): Promise<void> {
  const refs = [`refs/heads/${name}`, `refs/tags/${name}`, ...(name === "HEAD" ? ["HEAD"] : [])];
  for (const ref of refs)
    if (await isDamagedRef(from, ref))
      throw new QuernError(
        "SOURCE_UNREADABLE",
        `the commit of ${formatValue(name)} in the repository ${from.processes.folder} is damaged or missing; run git fsck for details`,
      );
}

interface Commit {
  readonly name: string;
  readonly commit: string;
  readonly committedAt?: Date;
}

/**
 * Finds the commit of a name. The name may be a branch, or else a tag, or else any expression that git understands.
 * Resolves to undefined if there is no such commit.
 */
async function resolveRevision(
  from: Pick<Parts, "processes" | "headers" | "objects">,
  name: string,
): Promise<Commit | undefined> {
  const answers = await Promise.all([
    unlessUnreadable(commitOfRef(from, `refs/heads/${name}`)),
    unlessUnreadable(commitOfRef(from, `refs/tags/${name}`)),
    unlessUnreadable(from.headers.read(`${name}^{commit}`)),
  ]);
  const commit = answers.find((answer) => answer !== undefined)?.id;
  if (commit === undefined) return undefined;
  const seconds = await committerSeconds(from, commit);
  return {
    name,
    commit,
    ...(seconds === undefined ? {} : { committedAt: new Date(seconds * 1000) }),
  };
}

/**
 * Resolves to the same value as `answer`, or to undefined if `answer` rejects with SOURCE_UNREADABLE. For some
 * expressions, git cat-file ends without an answer. An example is '@{upstream}' for a branch without an upstream.
 */
async function unlessUnreadable<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof QuernError && error.code === "SOURCE_UNREADABLE") return undefined;
    throw error;
  }
}

/** Resolves to the committer date of a commit, in seconds since 1970, or to undefined if the commit has none. */
async function committerSeconds(
  { processes, objects }: Pick<Parts, "processes" | "objects">,
  commit: string,
): Promise<number | undefined> {
  try {
    const object = await objects.read(commit);
    const text = Buffer.from(object?.content ?? []).toString("latin1");
    const header = text.slice(0, text.indexOf("\n\n"));
    const match = /^committer .*> (\d{1,12}) [+-]\d+$/m.exec(header);
    return match === null ? undefined : Number(match[1]);
  } catch {
    processes.throwIfOver();
    // the message of the commit may be so long that the object exceeds the size limit
    const args = ["rev-list", "--no-walk", "--timestamp", "--end-of-options", commit, "--"];
    const seconds = Number.parseInt((await processes.run(args)).stdout, 10);
    return Number.isNaN(seconds) ? undefined : seconds;
  }
}

interface Base {
  readonly name: string;
  readonly commit: string;
}

/**
 * Resolves to the indexed revisions that can be bases. The commit of a base must still exist, and the base must not
 * need to be listed in full.
 */
async function knownBases(headers: ObjectReader, indexed: Indexed): Promise<Base[]> {
  const checks = indexed.revisions.map(async ({ name, commit, mustBeListed }) => {
    if (mustBeListed === true || commit === undefined || !/^[0-9a-f]{40,64}$/.test(commit))
      return [];
    const header = await headers.read(`${commit}^{tree}`);
    return header === undefined ? [] : [{ name, commit }];
  });
  return (await Promise.all(checks)).flat();
}

/**
 * Chooses a base for a revision. A base with the same commit is preferred, then one with the same name, then the
 * first one. Without any base, the revision is returned unchanged.
 */
function withBase(revision: Commit, bases: readonly Base[]): ListedRevision & Commit {
  const base =
    bases.find((other) => other.commit === revision.commit) ??
    bases.find((other) => other.name === revision.name) ??
    bases[0];
  return base === undefined ? revision : { ...revision, base: base.name };
}

interface Parts {
  readonly processes: GitProcesses;
  readonly headers: ObjectReader;
  readonly objects: ObjectReader;
  readonly revisions: readonly (ListedRevision & Commit)[];
  readonly bases: readonly Base[];
  /** The ids of objects that a partial clone lacks. They must not be requested, because git would fetch them. */
  readonly absent: ReadonlySet<string> | undefined;
  readonly options: ListingOptions;
}

/**
 * The maximum number of processes that list trees or changes at the same time. If there are more revisions, they are
 * merged in groups of this size.
 */
const MERGED_AT_ONCE = 16;
/** The number of objects whose sizes are requested at a time. */
const SIZED_AT_ONCE = 256;

class GitListing {
  readonly #parts: Parts;
  readonly #slice: Slice;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#slice = new Slice({ signal: parts.options.signal });
  }

  /**
   * Yields all files of the revisions without a base, and the changes of the revisions with a base. If several
   * revisions have the same object at the same path, they share one entry.
   */
  async *entries(): AsyncGenerator<readonly Entry[]> {
    const { revisions } = this.#parts;
    const changed = [...revisions.keys()].filter(
      (position) => this.#baseOf(position) !== revisions[position]!.commit,
    );
    for (let i = 0; i < changed.length; i += MERGED_AT_ONCE)
      yield* this.#merged(changed.slice(i, i + MERGED_AT_ONCE));
  }

  /** Returns the commit of a revision's base, or undefined if the revision has no base. */
  #baseOf(position: number): string | undefined {
    const { revisions, bases } = this.#parts;
    return bases.find(({ name }) => name === revisions[position]!.base)?.commit;
  }

  async *#merged(positions: readonly number[]): AsyncGenerator<readonly Entry[]> {
    const lists = positions.map((position) => this.#list(position));
    try {
      for await (const batch of mergeTrees(lists, positions)) {
        for (let i = 0; i < batch.length; i += SIZED_AT_ONCE) {
          if (this.#slice.isOver) await this.#slice.rest();
          const slice = batch.slice(i, i + SIZED_AT_ONCE);
          const isSized = slice.every(({ size, mode }) => size !== undefined || !isFile(mode));
          yield isSized
            ? slice.map((record) => this.#entry(record))
            : await Promise.all(
                slice.map(async (record) => this.#entry(await this.#sized(record))),
              );
        }
      }
    } finally {
      await Promise.all(lists.map((list) => list.return(undefined)));
    }
  }

  #list(position: number): AsyncGenerator<TreeRecord[]> {
    const { processes, revisions, absent } = this.#parts;
    const { commit } = revisions[position]!;
    const base = this.#baseOf(position);
    return base === undefined
      ? listTree(processes, commit, absent === undefined)
      : listChanges(processes, base, commit);
  }

  async #sized(record: MergedRecord): Promise<MergedRecord> {
    if (record.size !== undefined || !isFile(record.mode)) return record;
    if (this.#parts.absent?.has(record.id) === true) return record;
    return { ...record, size: (await this.#parts.headers.read(record.id))?.size };
  }

  #entry(record: MergedRecord): Entry {
    const { revisions, mode, id, size } = record;
    const isValid = record.isUtf8 && isValidPath(record.path);
    const path = isValid ? record.path : printablePath(record.path);
    if (mode === "000000") return { kind: "removed", path, revisions };
    const skipped = (
      reason: "invalid-path" | "symlink" | "submodule" | "unreadable" | "too-large",
    ) => ({ kind: "skipped", path, revisions, reason }) as const;
    if (!isValid) return skipped("invalid-path");
    if (mode === "120000") return skipped("symlink");
    if (mode === "160000") return skipped("submodule");
    if (!isFile(mode) || size === undefined) return skipped("unreadable");
    if (size > this.#parts.options.maxFileSize) return skipped("too-large");
    const content = { read: () => this.#read(id) };
    return { kind: "file", path, revisions, version: id, size, content };
  }

  async #read(id: string): Promise<Uint8Array> {
    const object = await this.#parts.objects.read(id);
    if (object !== undefined) return object.content;
    throw new QuernError(
      "SOURCE_UNREADABLE",
      `the repository has no object ${id}; run git fsck for details`,
    );
  }
}
