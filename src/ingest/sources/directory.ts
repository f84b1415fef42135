/**
 * Implements directory(), which lists the files below a folder, sorted by the bytes of their paths. The only revision
 * is 'HEAD'. Each listing contains all files. The version of a file is made of its size, times and inode. A file with
 * an unchanged version is not read again.
 *
 * Files outside the folder are never opened. Symlinks are listed as skipped files, and are not followed.
 */

import { opendir, realpath, stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { invalid, QuernError } from "../../base/errors.ts";
import type { RepositoryMetadata } from "../../store/format/records.ts";
import { isGone, noFolder, unreadableFolder } from "../../base/folder-errors.ts";
import { checkedDiskPath, checkedMetadata, checkedName, checkedOptions } from "./metadata.ts";
import type { FolderRules, Listing, ListingOptions, Source, WalkedFolder } from "./source.ts";
import { listWorkTree } from "./git-work-tree.ts";
import { walk } from "./walk.ts";

/**
 * Options of directory().
 *
 * @example
 * const options: DirectoryOptions = { name: "notes", ignore: ["*.bak", "!keep.bak"] };
 */
export type DirectoryOptions = RepositoryMetadata & {
  /** The repository's name. Default: the folder's name. */
  name?: string;
  /**
   * Additional patterns of files to ignore, written as in a .gitignore file at the root. They override the patterns
   * in .gitignore and .ignore files.
   */
  ignore?: string[];
  /** Whether to honour .gitignore and .ignore files. Default true. */
  gitignore?: boolean;
  /**
   * If true, the folder is a git work tree, and only the files that git tracks or would add are listed. The revision
   * is named after the current branch. Cannot be combined with `ignore` or `gitignore`. Default false.
   */
  git?: boolean;
};

/**
 * Makes a source of the files below a folder, as they are on disk. Its only revision is 'HEAD'. Honours .gitignore and
 * .ignore files, and skips .git. Throws INVALID_REQUEST if an option is invalid. If the folder is missing, index()
 * rejects with SOURCE_NOT_FOUND.
 *
 * @example
 * await engine.index(directory("./notes", { ignore: ["*.bak"] }));
 */
export function directory(path: string, options: DirectoryOptions = {}): Source {
  checkedOptions("directory", options, ["ignore", "gitignore", "git"]);
  const root = resolve(checkedDiskPath("directory", path));
  const name = checkedName("directory", options.name ?? basename(root));
  const metadata = checkedMetadata("directory", options);
  const ignore = checkedPatterns(options.ignore);
  const gitignore = options.gitignore ?? true;
  if (typeof gitignore !== "boolean") throw invalid("directory: gitignore must be a boolean");
  const isGit = options.git ?? false;
  if (typeof isGit !== "boolean") throw invalid("directory: git must be a boolean");
  if (isGit && (options.ignore !== undefined || options.gitignore !== undefined))
    throw invalid("directory: with git: true, git's own rules apply; omit ignore and gitignore");
  const rules: FolderRules = { ignore, gitignore: gitignore && !isGit, git: isGit };
  return {
    name,
    metadata,
    origin: { folder: root, rules },
    open: async (_indexed, listing) =>
      isGit ? listWorkTree(root, listing) : list({ root, ignore, gitignore }, listing),
  };
}

function checkedPatterns(patterns: unknown): string[] {
  if (patterns === undefined) return [];
  if (Array.isArray(patterns) && patterns.every((pattern) => typeof pattern === "string")) {
    return patterns;
  }
  throw invalid("directory: ignore must be an array of patterns, as lines of a .gitignore file");
}

async function list(given: WalkedFolder, options: ListingOptions): Promise<Listing> {
  await checkRoot(given.root);
  const tree = { ...given, root: await realpath(given.root) };
  return {
    revisions: [{ name: "HEAD" }],
    entries: () => options.walk?.(tree) ?? walk(tree, options),
    close: async () => {},
    hasShortVersions: true,
  };
}

async function checkRoot(root: string): Promise<void> {
  try {
    if ((await stat(root)).isDirectory()) return await (await opendir(root)).close();
  } catch (cause) {
    throw isGone(cause) ? noFolder(root, cause) : unreadableFolder(root, cause);
  }
  const message = `${root} is not a folder; give the folder it is in`;
  throw new QuernError("SOURCE_UNREADABLE", message);
}
