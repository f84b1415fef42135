/** Where found files are on this machine, for programs that open them. */

import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import type { Engine } from "../engine.ts";
import type { FileResult } from "../search/messages/response.ts";

/** `repository:path`, as read takes it in two words. */
export const placeOf = (file: FileResult): string => `${file.repository}:${file.fileName.text}`;

/**
 * Resolves to a function that tells a file's path from the current folder, where its repository is a
 * folder here that has it, and else its place.
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
