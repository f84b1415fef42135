/** Finds the local paths of search results, for programs that open the files. */

import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import type { Engine } from "../engine.ts";
import type { FileResult } from "../search/messages/response.ts";

/** Returns `repository:path`, whose two parts are the arguments of `quern read`. */
const placeOf = (file: FileResult): string => `${file.repository}:${file.fileName.text}`;

/**
 * Resolves to a function that returns the location of a file. If the local folder of the repository contains the
 * file, the location is a path relative to the current folder. Otherwise, the location is `repository:path`.
 */
export async function pathsHere(engine: Engine): Promise<(file: FileResult) => string> {
  const folders = new Map<number, string>();
  for (const { id, origin } of await engine.repositories())
    if (origin) folders.set(id, origin.folder);
  return (file) => {
    const folder = folders.get(file.repositoryId);
    const path = folder === undefined ? undefined : join(folder, file.fileName.text);
    return path !== undefined && existsSync(path) ? relative(process.cwd(), path) : placeOf(file);
  };
}
