/**
 * Finds the data directory. It is the one that --db, QUERN_DB or a quern.json names. Otherwise, it is the nearest
 * `.quern` in the current folder or a parent folder, as git finds `.git`. A new data directory gets a .gitignore that
 * excludes it from git. If the run that created the directory fails, the directory is removed again.
 */

import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
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
