/**
 * Checks that an untrusted repository does not refer to files outside its folder. git reads files elsewhere if `.git`
 * is a symlink or names another folder, or if `.git` contains symlinks. git also follows alternates, the common
 * folder of work trees, and included configuration. So a malicious repository could make quern index another
 * repository. With a pipe among its files, a repository could make git wait until a time limit is reached. This check
 * is made before any git command runs.
 *
 * The check takes about 10 µs for each entry of `.git`. Later changes of the repository are not noticed.
 */

import { lstat, opendir, readFile, realpath } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { QuernError } from "../base/errors.ts";
import { Slice } from "../base/yield.ts";

/**
 * The maximum number of files and folders in a `.git`. A repository with more of them must be packed before it can be
 * indexed.
 */
const MOST_ENTRIES = 1_000_000;

/**
 * Rejects with SOURCE_UNREADABLE if anything in the repository refers to a file outside the folder, or if the
 * repository contains a pipe or a device. Accepts a folder that is not a repository, because git rejects such a
 * folder later.
 */
export async function mustStayInside(folder: string, signal: AbortSignal): Promise<void> {
  const root = await realpath(folder);
  const own = join(root, ".git");
  const found = await lstat(own).catch(() => undefined);
  if (found && !found.isDirectory()) throw leadsOut(root, ".git");
  const gitDir = found ? own : root;
  await mustHoldNoLinks(root, gitDir, new Slice({ signal }));
  for (const name of ["commondir", "objects/info/alternates", "objects/info/http-alternates"])
    if ((await textOf(join(gitDir, name))).trim() !== "") throw leadsOut(root, name);
  for (const name of ["config", "config.worktree"]) {
    const text = await textOf(join(gitDir, name));
    if (/\[\s*include/i.test(text)) throw leadsOut(root, `${name}, which includes another file,`);
    for (const [, tree = ""] of text.matchAll(/worktree\s*=[^\S\n]*(.*)/gi))
      if (!isPlain(tree) || !isInside(resolve(gitDir, tree.trim()), root))
        throw leadsOut(root, `core.worktree in ${name}`);
  }
}

async function mustHoldNoLinks(root: string, gitDir: string, slice: Slice): Promise<void> {
  const folders = [gitDir];
  let entries = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for await (const entry of await opendir(folder)) {
      const path = join(folder, entry.name);
      if (entry.isSymbolicLink()) {
        const target = await realpath(path).catch(() => undefined);
        if (!target || !isInside(target, gitDir)) throw leadsOut(root, relative(root, path));
      } else if (entry.isDirectory()) folders.push(path);
      else if (entry.isFIFO() || entry.isCharacterDevice() || entry.isBlockDevice())
        throw notAFile(root, relative(root, path));
      if (++entries > MOST_ENTRIES) throw tooMany(root);
      if (slice.isOver) await slice.rest();
    }
  }
}

/**
 * Whether git reads a value of its configuration as it is written. The checks of configuration are coarse: they also
 * reject what is only in a comment, because a parser that differs from git's in one detail could be evaded.
 */
const isPlain = (value: string): boolean => !/["\\#;~%]/.test(value);

const isInside = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder + sep);

const MOST_BYTES = 1 << 20;

/** Resolves to the text of a file, or to '' if there is no regular file at this path. */
async function textOf(path: string): Promise<string> {
  const stat = await lstat(path).catch(() => undefined);
  if (!stat?.isFile()) return "";
  if (stat.size > MOST_BYTES)
    throw new QuernError("SOURCE_UNREADABLE", `${path} is larger than ${MOST_BYTES} bytes`);
  return readFile(path, "utf8");
}

function leadsOut(folder: string, what: string): QuernError {
  const message = `${what} of the repository ${folder} leads out of the folder, and the source has trusted: false; omit that option if you trust the repository's author`;
  return new QuernError("SOURCE_UNREADABLE", message);
}

function notAFile(folder: string, what: string): QuernError {
  const message = `${what} of the repository ${folder} is not a regular file, so git would wait for it; remove it`;
  return new QuernError("SOURCE_UNREADABLE", message);
}

function tooMany(folder: string): QuernError {
  const message = `the repository ${folder} has more than ${MOST_ENTRIES} files; run git gc to pack them`;
  return new QuernError("SOURCE_UNREADABLE", message);
}
