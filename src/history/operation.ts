/**
 * Runs the git processes of one call of a history, in the repository's own folder, until the call is done, aborted or
 * out of time. The repository's configuration cannot make git run a program, because every key that could do so for
 * these commands is overridden. The network is disabled (GIT_ALLOW_PROTOCOL), because an old git would fetch the
 * objects that a partial clone lacks.
 */

import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { closedError, QuernError, type ErrorCode } from "../base/errors.ts";
import { aborted } from "../base/abort.ts";
import { ObjectReader, OBJECT_LIMITS } from "../git/git-objects.ts";
import { failed, GitProcesses, type Output } from "../git/git-process.ts";
import type { RepositoryPlace } from "../git/open-repository.ts";
import { resolveRevision } from "./revision.ts";

const MIB = 2 ** 20;
/** The maximum number of bytes of output of one command. */
const MOST_OUTPUT_BYTES = 32 * MIB;
/** The maximum number of bytes of a file whose lines are compared. */
const MOST_COMPARED_BYTES = 64 * MIB;
/** The maximum number of bytes of a file that is read or blamed, and of a folder's list. */
export const MOST_FILE_BYTES = 16 * MIB;

const ENVIRONMENT = {
  GIT_ALLOW_PROTOCOL: "none",
  GIT_LITERAL_PATHSPECS: "1",
  // makes expressions match characters instead of bytes; messages stay in English
  LC_ALL: "C.UTF-8",
  LANGUAGE: "",
};

/**
 * Values that override git's configuration. Other values could run a program, read a file outside the repository,
 * change the answer, or take too much memory.
 */
const CONFIGURATION = {
  "mailmap.file": "/dev/null",
  "core.attributesFile": "/dev/null",
  "log.showSignature": "false", // runs gpg.program
  "log.follow": "false",
  "log.mailmap": "true",
  "diff.suppressBlankEmpty": "false",
  "core.quotePath": "false",
  // treats larger files as binary in a difference, so git does not load them: two of 400 MB took 2.2 GB of memory
  "core.bigFileThreshold": String(MOST_COMPARED_BYTES),
};
const OPTIONS = [
  "--no-pager",
  ...Object.entries(CONFIGURATION).flatMap(([key, value]) => ["-c", `${key}=${value}`]),
];
/**
 * The maximum number of bytes of a .mailmap that is used. Git reads all of it for each command: 126 MB take 15 s and
 * 1.5 GB of memory.
 */
const MOST_MAILMAP_BYTES = MIB;
/** The maximum amount of memory of the processes of one call. */
const MOST_MEMORY_BYTES = 2 ** 30;

/** One call of a history, with the git processes that it starts. */
export class Operation {
  readonly git: GitProcesses;
  readonly #place: RepositoryPlace;
  readonly #readers: ObjectReader[] = [];
  #headers: ObjectReader | undefined;
  #objects: ObjectReader | undefined;
  #options: Promise<readonly string[]> | undefined;

  constructor(place: RepositoryPlace, signal: AbortSignal) {
    this.#place = place;
    const environment = { ...ENVIRONMENT, GIT_DIR: place.gitDir };
    this.git = new GitProcesses(place.folder, signal, environment, MOST_MEMORY_BYTES);
  }

  async #optionsFor(args: readonly string[]): Promise<string[]> {
    return [...(await (this.#options ??= this.#findOptions())), ...args];
  }

  async #findOptions(): Promise<readonly string[]> {
    const { isBare, folder, gitDir } = this.#place;
    const bytes = isBare
      ? ((await this.headers.read("HEAD:.mailmap"))?.size ?? 0)
      : await bytesOfFile(join(folder, ".mailmap"));
    const isTooLarge = bytes > MOST_MAILMAP_BYTES;
    // without --bare, git would take a bare repository without a configuration for a work tree, and read the file
    // .mailmap
    if (isBare) return ["--bare", ...(isTooLarge ? ["-c", "mailmap.blob="] : []), ...OPTIONS];
    return isTooLarge ? ["-C", gitDir, ...OPTIONS] : OPTIONS; // gitDir has no .mailmap
  }

  /** Answers requests for types and sizes of objects. */
  get headers(): ObjectReader {
    return (this.#headers ??= this.#reader("--batch-check"));
  }

  /** Answers requests for trees and contents. */
  get objects(): ObjectReader {
    return (this.#objects ??= this.#reader("--batch"));
  }

  #reader(mode: "--batch" | "--batch-check"): ObjectReader {
    const reader = new ObjectReader(this.git, mode, { ...OBJECT_LIMITS, maxSize: MOST_FILE_BYTES });
    this.#readers.push(reader);
    return reader;
  }

  /** Resolves to the id of a commit, or undefined. */
  resolve(revision: string): Promise<string | undefined> {
    return resolveRevision({ processes: this.git, headers: this.headers }, revision);
  }

  /** Resolves to the output of a command, up to MOST_OUTPUT_BYTES, and whether it failed. */
  async output(args: readonly string[], input = ""): Promise<Output> {
    const all = await this.#optionsFor(args);
    return this.git.output(all, { mostBytes: MOST_OUTPUT_BYTES, input });
  }

  /** Resolves to the output of a command that should not fail. Rejects with `code` if the output is too long. */
  async mustOutput(
    what: string,
    args: readonly string[],
    { input = "", code: tooLong = "INVALID_REQUEST" }: { input?: string; code?: ErrorCode } = {},
  ): Promise<Buffer> {
    const { code, stdout, stderr, isCut } = await this.output(args, input);
    if (isCut) {
      const message = `${what} is larger than ${MOST_OUTPUT_BYTES / MIB} MiB; ask for less of it`;
      throw new QuernError(tooLong, message);
    }
    if (code !== 0) throw failed(this.git.folder, stderr);
    return stdout;
  }

  /** Yields records, as GitProcesses.records() does. */
  async *records(args: readonly string[]): AsyncGenerator<Buffer> {
    yield* this.git.records(await this.#optionsFor(args));
  }

  end(): void {
    for (const reader of this.#readers) reader.close();
    this.git.kill();
  }
}

/**
 * Returns the size of a file: 0 if the file does not exist or git would not read it, and Infinity if it might never
 * end, such as a pipe.
 */
async function bytesOfFile(path: string): Promise<number> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || found.isSymbolicLink()) return 0;
  return found.isFile() ? found.size : Infinity;
}

export interface Bounds {
  readonly timeoutMs: number;
  /** Aborted when the engine closes. */
  readonly closing: AbortSignal;
  readonly signal: AbortSignal | undefined;
}

/** Runs an operation. None of its processes outlives it. */
export async function operate<T>(
  place: RepositoryPlace,
  { timeoutMs, closing, signal }: Bounds,
  run: (operation: Operation) => Promise<T>,
): Promise<T> {
  if (closing.aborted) throw closedError();
  if (signal?.aborted) throw aborted(signal);
  const stop = new AbortController();
  const end = () => stop.abort();
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    end();
  }, timeoutMs);
  for (const one of [closing, signal]) one?.addEventListener("abort", end, { once: true });
  const operation = new Operation(place, stop.signal);
  try {
    const result = await run(operation);
    signal?.throwIfAborted(); // git may have ended before the abort reached it
    return result;
  } catch (error) {
    if (closing.aborted) throw closedError();
    if (signal?.aborted) throw aborted(signal);
    throw isLate ? tooLate(timeoutMs) : error;
  } finally {
    operation.end();
    clearTimeout(timer);
    for (const one of [closing, signal]) one?.removeEventListener("abort", end);
  }
}

function tooLate(timeoutMs: number): QuernError {
  const message = `git took longer than ${timeoutMs / 1000} s; ask for less: a path, a shorter time, another expression`;
  return new QuernError("INVALID_REQUEST", message);
}
