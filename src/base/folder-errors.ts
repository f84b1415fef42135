/** Creates the errors for folders that a source cannot read. */

import { isOutOfFiles, outOfFiles } from "./out-of-files.ts";
import { QuernError } from "./errors.ts";

export function isGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ENOTDIR";
}

export function noFolder(folder: string, cause: unknown): QuernError {
  const message = `there is no folder ${folder}; check the path`;
  return new QuernError("SOURCE_NOT_FOUND", message, { cause });
}

export function unreadableFolder(folder: string, cause: unknown): QuernError {
  if (isOutOfFiles(cause)) return outOfFiles(cause);
  const why = cause instanceof Error ? cause.message : String(cause);
  const message = `the folder ${folder} cannot be read (${why}); check its permissions`;
  return new QuernError("SOURCE_UNREADABLE", message, { cause });
}
