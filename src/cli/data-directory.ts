/**
 * Which data directory a command means: --db, QUERN_DB, that of a quern.json, or the first `.quern` in the current folder
 * and those above it, as git finds `.git`. A new one holds a .gitignore that leaves it out, and one
 * that a failed run has made is taken away again.
 */

import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { QuernError } from "../base/errors.ts";
import type { Io } from "./io.ts";

const NAME = ".quern";

/** `./.quern` where there is none here or above. `configured`: what a file says. */
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

/** Resolves as `run` does. Where that fails in a new directory and leaves nothing in it, the directory goes. */
export async function inNewDirectory<T>(
  db: string,
  run: () => Promise<T>,
  isEmpty: () => boolean,
): Promise<T> {
  if (existsSync(db)) return run();
  const made = mkdirSync(db, { recursive: true }); // the topmost folder that was not there
  writeFileSync(join(db, ".gitignore"), "*\n");
  try {
    return await run();
  } catch (error) {
    const isOthers = error instanceof QuernError && error.code === "INDEX_LOCKED";
    if (made !== undefined && isEmpty() && !isOthers) rmSync(made, { recursive: true });
    throw error;
  }
}
