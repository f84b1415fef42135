/**
 * Finds the data directory: --db, QUERN_DB, that of a quern.json, or the first `.quern` in the current
 * folder and those above it, as git finds `.git`. A new directory gets a .gitignore that excludes it, and
 * is removed again if the run that created it fails.
 */

import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { QuernError } from "../base/errors.ts";
import type { Io } from "./io.ts";

const NAME = ".quern";

/**
 * Returns the directory; `./.quern` if there is none here or above. `configured` is what a quern.json says.
 */
export function findDataDirectory(
  env: Io["env"],
  configured?: string,
  from = process.cwd(),
): string {
  if (env["QUERN_DB"]) return env["QUERN_DB"];
  if (configured !== undefined) return configured;
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, NAME);
    if (statSync(candidate, { throwIfNoEntry: false })?.isDirectory())
      return relative(from, candidate);
    if (dirname(folder) === folder) return `.${join("/", NAME)}`;
  }
}

/** Runs `run`. If it fails in a new directory and leaves nothing there, removes the directory. */
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
