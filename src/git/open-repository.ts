/**
 * Opens the git repository in a folder. The folder may be the top of a work tree, a `.git`, or a bare repository.
 * Parent folders are not searched. git itself checks who owns the repository.
 */

import { access, constants, realpath, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { QuernError } from "../base/errors.ts";
import { isGone, noFolder, unreadableFolder } from "../base/folder-errors.ts";
import { throwIfAborted } from "../base/abort.ts";
import { GitProcesses } from "./git-process.ts";

/**
 * The paths of a repository. `folder` is the real path of the folder that was opened, and `gitDir` is the folder in
 * which git keeps its data.
 */
export interface RepositoryPlace {
  readonly folder: string;
  readonly gitDir: string;
  /**
   * True if the repository has no work tree. If the repository's configuration does not say whether it has one, git
   * decides by the content of the folder.
   */
  readonly isBare: boolean;
}

/** Opens the repository in a folder. All commands of the returned object use this repository. */
export async function openRepository(folder: string, signal: AbortSignal): Promise<GitProcesses> {
  const place = await locateRepository(folder, signal);
  return new GitProcesses(place.folder, signal, { GIT_DIR: place.gitDir });
}

/**
 * Finds the repository in a folder. Rejects if there is no repository, if it cannot be read, or if git does not trust
 * its owner.
 */
export async function locateRepository(
  folder: string,
  signal: AbortSignal,
): Promise<RepositoryPlace> {
  throwIfAborted(signal);
  const real = await realFolder(folder);
  await mustBeReadable(folder, real);
  // git must not search the parent folders
  const finder = new GitProcesses(real, signal, { GIT_CEILING_DIRECTORIES: dirname(real) });
  try {
    const found = await finder.run(["rev-parse", "--is-bare-repository", "--absolute-git-dir"]);
    if (found.code !== 0) throw notARepository(folder, found.stderr);
    const [bare = "", ...rest] = found.stdout.replace(/\r?\n$/, "").split("\n");
    // the path may contain line feeds
    return { folder: real, gitDir: rest.join("\n"), isBare: bare.trim() === "true" };
  } finally {
    finder.kill();
  }
}

/**
 * Resolves to the path of the file in which git keeps the boundary of a shallow clone. In other repositories, this
 * file does not exist. All linked work trees of a repository share the same file.
 */
export async function shallowFileOf(
  { folder, gitDir }: RepositoryPlace,
  signal: AbortSignal,
): Promise<string> {
  const finder = new GitProcesses(folder, signal, { GIT_DIR: gitDir });
  try {
    const { stdout } = await finder.run(["rev-parse", "--git-path", "shallow"]);
    return resolve(folder, stdout.replace(/\r?\n$/, ""));
  } finally {
    finder.kill();
  }
}

async function realFolder(folder: string): Promise<string> {
  try {
    const real = await realpath(folder);
    if ((await stat(real)).isDirectory()) return real;
  } catch (cause) {
    throw isGone(cause) ? noFolder(folder, cause) : unreadableFolder(folder, cause);
  }
  throw new QuernError(
    "NOT_A_GIT_REPOSITORY",
    `${folder} is a file; give the folder of a repository`,
  );
}

/** Rejects if the folder or its `.git` cannot be read. git itself would report that there is no repository. */
async function mustBeReadable(folder: string, real: string): Promise<void> {
  for (const part of [real, join(real, ".git")])
    try {
      await access(part, constants.X_OK);
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      const isFile = part !== real && (await stat(part).catch(() => undefined))?.isFile();
      if (code !== "ENOENT" && !isFile) throw unreadableFolder(folder, cause);
    }
}

function notARepository(folder: string, stderr: string): QuernError {
  if (/dubious ownership|unsafe repository/.test(stderr)) {
    const message = `git does not trust ${folder}, because another user owns it; if you do: git config --global --add safe.directory '${folder}'`;
    return new QuernError("SOURCE_UNREADABLE", message);
  }
  if (/not a git repository/i.test(stderr)) {
    const message = `${folder} is not the top folder of a git repository; give that, or index the folder with directory()`;
    return new QuernError("NOT_A_GIT_REPOSITORY", message);
  }
  return new QuernError("SOURCE_UNREADABLE", `git cannot open ${folder}: ${stderr}`);
}
