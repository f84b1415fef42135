/**
 * Finds the data directory. It is the one that --db, QUERN_DB or a quern.json names. Otherwise, it is the nearest
 * `.quern` in the current folder or a parent folder, as git finds `.git`. That of `quern mcp` depends on its paths
 * instead, because a client starts it in any folder. A new data directory gets a .gitignore that excludes it from git.
 * If the run that created the directory fails, the directory is removed again.
 */

import { createHash } from "node:crypto";
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { QuernError } from "../base/errors.ts";
import type { Io } from "./io.ts";

const NAME = ".quern";

/**
 * Returns the data directory, or `./.quern` if neither this folder nor a parent has one. `configured` returns the
 * directory that a quern.json names, if any. Throws INVALID_REQUEST if the directory or an entry in it is a symlink,
 * unless the environment names the directory.
 */
export function findDataDirectory(
  env: Io["env"],
  configured?: () => string,
  from = process.cwd(),
): string {
  if (env["QUERN_DB"]) return env["QUERN_DB"];
  const found = configured?.() ?? nearest(from);
  mustStayInside(resolve(from, found));
  return found;
}

/**
 * Returns the data directory of a server that follows these paths: `.quern` in the path. If there are several paths, or
 * nothing can be written there, it is a directory in the user's cache that only the same paths share.
 */
export function findDirectoryOfPaths(
  paths: readonly string[],
  env: Io["env"],
  configured?: () => string,
): string {
  if (env["QUERN_DB"] || configured) return findDataDirectory(env, configured);
  const inside = resolve(paths[0]!, NAME);
  if (paths.length > 1 || !isWritable(inside)) return join(cacheFolder(env), keyOf(paths));
  mustStayInside(inside);
  return inside;
}

/** Whether a directory exists and is writable, or can be created in its parent folder. */
function isWritable(directory: string): boolean {
  const stat = statSync(directory, { throwIfNoEntry: false });
  if (stat && !stat.isDirectory()) return false;
  try {
    accessSync(stat ? directory : dirname(directory), constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns a name that depends on the folders of the paths, in whatever order they are given. */
function keyOf(paths: readonly string[]): string {
  const real = paths.map((path) => (existsSync(path) ? realpathSync(path) : resolve(path)));
  const hash = createHash("sha256").update(JSON.stringify(real.toSorted()));
  return `mcp-${hash.digest("hex").slice(0, 32)}`;
}

/** Returns quern's folder among the user's caches, by the rules of the system. */
function cacheFolder(env: Io["env"]): string {
  const { platform } = process;
  if (platform === "win32")
    return join(env["LOCALAPPDATA"] ?? join(homedir(), "AppData", "Local"), "quern", "Cache");
  if (platform === "darwin") return join(homedir(), "Library", "Caches", "quern");
  return join(env["XDG_CACHE_HOME"] || join(env["HOME"] || homedir(), ".cache"), "quern");
}

function nearest(from: string): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, NAME);
    if (statSync(candidate, { throwIfNoEntry: false })?.isDirectory())
      return relative(from, candidate);
    if (dirname(folder) === folder) return `.${join("/", NAME)}`;
  }
}

/**
 * Rejects symlinks. The directory may be in somebody else's folder, and a write through a symlink would change files
 * elsewhere.
 */
function mustStayInside(folder: string): void {
  if (!existsSync(folder)) return;
  const inside = readdirSync(folder, { withFileTypes: true }).filter((one) => one.isSymbolicLink());
  const link = lstatSync(folder).isSymbolicLink()
    ? folder
    : inside[0] && join(folder, inside[0].name);
  if (link === undefined) return;
  const message = `${link} is a symlink, and the index may come with somebody else's folder; if it is yours, type --db ${folder}, or set QUERN_DB`;
  throw new QuernError("INVALID_REQUEST", message);
}

/**
 * Creates the directory if it does not exist, and calls `run`. If `run` fails and has indexed nothing, removes the
 * directory that this call created, unless another process is writing to it.
 */
export async function inNewDirectory<T>(
  db: string,
  run: () => Promise<T>,
  isEmpty: () => boolean,
): Promise<T> {
  if (existsSync(db)) return run();
  const made = mkdirSync(db, { recursive: true }); // the topmost folder that was created
  writeFileSync(join(db, ".gitignore"), "*\n");
  try {
    return await run();
  } catch (error) {
    const isOthers = error instanceof QuernError && error.code === "INDEX_LOCKED";
    if (made !== undefined && isEmpty() && !isOthers) rmSync(made, { recursive: true });
    throw error;
  }
}
