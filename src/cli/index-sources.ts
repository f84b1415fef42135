/**
 * Creates a source for each path of `quern index`. Finds out which paths are git repositories, what their names are,
 * and which revisions to index. A path that is already indexed keeps its name and its revisions unless options say
 * otherwise.
 */

import { existsSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { realpath } from "node:fs/promises";
import { invalid, QuernError } from "../base/errors.ts";
import { pathWithin } from "../base/paths.ts";
import { directory } from "../ingest/sources/directory.ts";
import { git, remoteOf } from "../ingest/sources/git.ts";
import type { HistoryLimits, Source } from "../ingest/sources/source.ts";
import type { Repository } from "../repository.ts";
import type { CodeHostType, RepositoryMetadata } from "../store/format/records.ts";

export interface SourceFlags {
  db: string;
  name?: string;
  rev?: string[];
  allBranches?: true;
  allTags?: true;
  /** Take the files of a work tree as they are on disk. */
  worktree?: true;
  /** Patterns for files to exclude. False if .gitignore and .ignore files are not read. */
  ignore?: string[] | false;
  /** False if the indexed history is dropped. */
  history?: boolean;
  historySince?: string;
  public?: true;
  webUrl?: string;
  codeHost?: CodeHostType;
}

interface Asked {
  readonly flags: SourceFlags;
  /** The indexed repositories. */
  readonly repositories: readonly Repository[];
  readonly signal: AbortSignal;
}

/** Checks the paths before anything is opened or created. Throws if one of them cannot be indexed. */
export function checkPaths(paths: readonly string[], flags: SourceFlags): void {
  const { name } = flags;
  if (name !== undefined && paths.length > 1 && !/[{}]/.test(name))
    throw invalid(
      `--name ${JSON.stringify(name)} gives ${paths.length} paths the same name; use a template: --name 'team/{folder}'`,
    );
  for (const path of paths) {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined)
      throw new QuernError("SOURCE_NOT_FOUND", `${resolve(path)} does not exist; check the path`);
    if (!stats.isDirectory())
      throw invalid(
        `${path} is a file, but quern index needs a folder: give ${dirname(resolve(path))}, ` +
          `or only this file of it with --ignore '*' --ignore '!/${basename(path)}'`,
      );
    refuseMisplaced(path, isRepository(path), flags);
  }
}

/** Resolves to one source for each path. REQUIRES: checkPaths() has accepted the paths. */
export function sourcesOf(paths: readonly string[], asked: Asked): Promise<Source[]> {
  return Promise.all(paths.map((path) => sourceOf(path, asked)));
}

async function sourceOf(path: string, asked: Asked): Promise<Source> {
  const isGit = isRepository(path);
  const name = await nameOf(path, isGit, asked);
  const options = { name, ...metadataOf(asked.flags) };
  if (!isGit)
    return directory(path, {
      ...options,
      ignore: ignored(path, asked.flags),
      gitignore: asked.flags.ignore !== false,
    });
  if (asked.flags.worktree) return directory(path, { ...options, git: true });
  const known = asked.repositories.find((repository) => repository.name === name);
  const revisions = revisionsOf(asked.flags) ?? known?.origin?.revisions;
  const history = historyOf(asked.flags, known);
  return git(path, {
    ...options,
    ...(revisions && { revisions: [...revisions] }),
    ...(history !== undefined && { history }),
  });
}

/** Returns the history to index: as the option says, or as in the last run. */
function historyOf(
  { history, historySince }: SourceFlags,
  known: Repository | undefined,
): boolean | HistoryLimits | undefined {
  if (historySince === undefined) return history ?? known?.history;
  if (history === false) throw invalid("give --no-history or --history-since, not both");
  return { since: historySince };
}

function refuseMisplaced(path: string, isGit: boolean, flags: SourceFlags): void {
  if (isGit && flags.ignore) throw invalid(`--ignore is for folders; ${path} is a git repository`);
  const wantsHistory = flags.history === true || flags.historySince !== undefined;
  if (!isGit && wantsHistory)
    throw invalid(`--history is for git repositories; ${path} is not one`);
  if (flags.worktree && !existsSync(join(path, ".git")))
    throw invalid(`--worktree is for git work trees; ${path} is not one`);
  if (flags.worktree && (revisionsOf(flags) || wantsHistory))
    throw invalid(
      "--worktree takes the files on disk, and --rev, --all-branches, --all-tags and --history take commits; give one of them",
    );
  if (!isGit && revisionsOf(flags))
    throw invalid(
      `--rev, --all-branches and --all-tags are for git repositories; ${path} is not one`,
    );
}

/** Returns the revisions that the options name, or undefined if they name none. */
function revisionsOf({ rev, allBranches, allTags }: SourceFlags): string[] | undefined {
  const wanted = [
    ...(rev ?? []),
    ...(allBranches ? ["refs/heads/*"] : []),
    ...(allTags ? ["refs/tags/*"] : []),
  ];
  return wanted.length > 0 ? wanted : undefined;
}

function metadataOf({ public: isPublic, codeHost, webUrl }: SourceFlags): RepositoryMetadata {
  return {
    ...(isPublic && { public: true }),
    ...(codeHost !== undefined && { codeHostType: codeHost }),
    ...(webUrl !== undefined && { webUrl }),
  };
}

/** Whether a path is the top folder of a work tree, or a bare repository. */
export function isRepository(path: string): boolean {
  const has = (name: string): boolean => existsSync(join(path, name));
  return has(".git") || (has("HEAD") && has("objects") && has("refs"));
}

/**
 * Resolves to the name of a source. The name in the options comes first, then the name under which the folder is
 * indexed, then the name of the remote, then the name of the folder.
 */
async function nameOf(path: string, isGit: boolean, asked: Asked): Promise<string> {
  const folder = resolve(path);
  const remote = isGit ? await remoteOf(path, { signal: asked.signal }) : undefined;
  const { name } = asked.flags;
  if (name !== undefined) return expand(name, { folder, isGit, remote });
  const own = remote ?? folderName(folder, isGit);
  const indexed = await namesOfFolder(folder, asked.repositories);
  return indexed.includes(own) ? own : (indexed[0] ?? own);
}

async function namesOfFolder(
  folder: string,
  repositories: readonly Repository[],
): Promise<string[]> {
  const real = await realpath(folder).catch(() => folder);
  return repositories
    .filter(({ origin }) => origin?.folder === folder || origin?.folder === real)
    .map(({ name }) => name);
}

function folderName(folder: string, isGit: boolean): string {
  if (!isGit) return basename(folder);
  const own = basename(folder);
  return own === ".git" ? basename(dirname(folder)) : own.replace(/\.git$/, "");
}

/**
 * Fills in a template. `{folder}` and `{parent}` stand for the names of the folder and of its parent folder.
 * `{remote}` stands for the name of the remote, or for that of the folder if there is no remote.
 */
function expand(
  template: string,
  { folder, isGit, remote }: { folder: string; isGit: boolean; remote: string | undefined },
): string {
  const own = folderName(folder, isGit);
  const values = new Map([
    ["folder", own],
    ["parent", basename(dirname(folder))],
    ["remote", remote ?? own],
  ]);
  return template.replace(/\{([^{}]*)\}/g, (whole, word: string) => {
    const value = values.get(word);
    if (value !== undefined) return value;
    throw invalid(`--name: ${whole} is unknown; use {folder}, {parent} or {remote}`);
  });
}

/**
 * Returns the patterns of the options. Adds a pattern that excludes the data directory if the indexed folder contains
 * it.
 */
export function ignored(path: string, { db, ...flags }: SourceFlags): string[] {
  const ignore = flags.ignore || [];
  const inside = pathWithin(resolve(path), resolve(db));
  return inside ? [...ignore, `/${inside}/`] : ignore;
}
