/**
 * What happens when the process, or the whole system, has no free file descriptor. Opening a file then fails with EMFILE
 * or ENFILE, and starting a process or a thread fails, too. Such a failure says nothing about the file, so it must not
 * be taken for a file that is missing or unreadable. The call rejects with OVERLOADED, and may be repeated.
 */

import type { ChildProcess } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import { QuernError } from "./errors.ts";

const CODES: ReadonlySet<unknown> = new Set(["EMFILE", "ENFILE"]);

export const isOutOfFiles = (error: unknown): boolean =>
  typeof error === "object" && error !== null && CODES.has((error as { code?: unknown }).code);

export const outOfFiles = (cause: unknown): QuernError =>
  new QuernError(
    "OVERLOADED",
    "no file descriptor is free: close files, or raise the limit of open files (ulimit -n); then try again",
    { cause },
  );

/** Throws OVERLOADED if `error` is caused by a lack of file descriptors. */
export function throwIfOutOfFiles(error: unknown): void {
  if (isOutOfFiles(error)) throw outOfFiles(error);
}

/**
 * Throws OVERLOADED if no file descriptor was free for the streams of a new process. Node.js then returns a process that
 * has no streams, contrary to its types, and that emits an error, which would end this process if nobody handled it.
 */
export function mustHaveStreams(child: ChildProcess): void {
  if ((child.stdio as unknown) !== undefined) return;
  child.on("error", () => {});
  throw outOfFiles(new Error("the streams of a process could not be created"));
}

/** The number of files that the largest of quern's modules and LMDB open at the same time, and some more. */
const NEEDED = 32;

/**
 * Throws OVERLOADED unless NEEDED file descriptors are free. Called before something that does not survive a lack of
 * them. LMDB ends the process. If Node.js cannot load a module, it never tries again.
 */
export function needFiles(): void {
  const held: number[] = [];
  try {
    while (held.length < NEEDED) held.push(openSync(devNull, "r"));
  } catch (error) {
    throwIfOutOfFiles(error);
  } finally {
    for (const descriptor of held) closeSync(descriptor);
  }
}

/** Returns a function that loads a module, if it is not loaded yet. `load` calls import(). */
export function lazily<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => {
    if (!loaded) needFiles();
    return (loaded ??= load());
  };
}
