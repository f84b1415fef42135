/**
 * Runs the git processes of one call of a history, in the folder of the repository. The processes end when the call
 * is done, aborted or out of time. The repository's configuration cannot make git run a program, because every key
 * that could do so for these commands is overridden. GIT_ALLOW_PROTOCOL disables the network, because an old version
 * of git would fetch the objects that a partial clone lacks.
 */

import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { JoinedSignal } from "../base/joined-signal.ts";
import { closedError, QuernError, type ErrorCode } from "../base/errors.ts";
import { aborted } from "../base/abort.ts";
import { ObjectReader, OBJECT_LIMITS } from "../git/git-objects.ts";
import { failed, GitProcesses, type Output } from "../git/git-process.ts";
import type { RepositoryPlace } from "../git/open-repository.ts";
import { resolveRevision } from "./revision.ts";

const MIB = 2 ** 20;
/** The maximum size of the output of one command, in bytes. */
const MOST_OUTPUT_BYTES = 32 * MIB;
/** The maximum size of a file whose lines are compared, in bytes. */
const MOST_COMPARED_BYTES = 64 * MIB;
/** The maximum size of a file that is read or blamed, in bytes. The tree object of a folder has the same limit. */
export const MOST_FILE_BYTES = 16 * MIB;

const ENVIRONMENT = {
  GIT_ALLOW_PROTOCOL: "none",
  GIT_LITERAL_PATHSPECS: "1",
  // with UTF-8, expressions match characters instead of bytes; messages stay in English
  LC_ALL: "C.UTF-8",
  LANGUAGE: "",
};

/**
 * Values that override git's configuration. Other values could make git run a program, read a file outside the
 * repository, answer in another form, or use too much memory.
 */
const CONFIGURATION = {
  "mailmap.file": "/dev/null",
  "core.attributesFile": "/dev/null",
  "log.showSignature": "false", // true would run gpg.program
  "log.follow": "false",
  "log.mailmap": "true",
  "diff.suppressBlankEmpty": "false",
  "core.quotePath": "false",
  // git treats larger files as binary and does not load them; comparing the lines of two files of 400 MB took 2.2 GB
  // of memory
  "core.bigFileThreshold": String(MOST_COMPARED_BYTES),
};
const OPTIONS = [
  "--no-pager",
  ...Object.entries(CONFIGURATION).flatMap(([key, value]) => ["-c", `${key}=${value}`]),
];
/**
 * The maximum size of a .mailmap, in bytes. A larger one is not used, because git reads the whole file for each
 * command. For 126 MB this takes 15 s and 1.5 GB of memory.
 */
const MOST_MAILMAP_BYTES = MIB;
/** The maximum amount of memory that the git processes of one call may use together, in bytes. */
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
    // if a bare repository has no configuration, git without --bare would treat its folder as a work tree, and read
    // the file .mailmap there
    if (isBare) return ["--bare", ...(isTooLarge ? ["-c", "mailmap.blob="] : []), ...OPTIONS];
    return isTooLarge ? ["-C", gitDir, ...OPTIONS] : OPTIONS; // git runs in gitDir, which has no .mailmap
  }

  /** Reads the types and sizes of objects. */
  get headers(): ObjectReader {
    return (this.#headers ??= this.#reader("--batch-check"));
  }

  /** Reads objects with their content. */
  get objects(): ObjectReader {
    return (this.#objects ??= this.#reader("--batch"));
  }

  #reader(mode: "--batch" | "--batch-check"): ObjectReader {
    const reader = new ObjectReader(this.git, mode, { ...OBJECT_LIMITS, maxSize: MOST_FILE_BYTES });
    this.#readers.push(reader);
    return reader;
  }

  /** Resolves to the id of the commit that a revision names, or to undefined if there is none. */
  resolve(revision: string): Promise<string | undefined> {
    return resolveRevision({ processes: this.git, headers: this.headers }, revision);
  }

  /**
   * Runs a command, and resolves to its output and exit code. A command that writes more than MOST_OUTPUT_BYTES is
   * killed.
   */
  async output(args: readonly string[], input = ""): Promise<Output> {
    const all = await this.#optionsFor(args);
    return this.git.output(all, { mostBytes: MOST_OUTPUT_BYTES, input });
  }

  /**
   * Runs a command that should not fail, and resolves to its output. Rejects with the code `code` if the output is
   * too long, and with SOURCE_UNREADABLE if the command fails.
   */
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

  /** Runs a command, and yields its output in batches of records. See GitProcesses.records(). */
  async *records(args: readonly string[]): AsyncGenerator<Buffer> {
    yield* this.git.records(await this.#optionsFor(args));
  }

  end(): void {
    for (const reader of this.#readers) reader.close();
    this.git.kill();
  }
}

/**
 * Resolves to the size of a file, in bytes. Resolves to 0 if the file does not exist or is a symlink, which git does
 * not follow here. Resolves to Infinity if the file may be endless, as a pipe may.
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

/** Runs an operation within the bounds. When the promise settles, all processes of the operation have been killed. */
export async function operate<T>(
  place: RepositoryPlace,
  { timeoutMs, closing, signal }: Bounds,
  run: (operation: Operation) => Promise<T>,
): Promise<T> {
  if (closing.aborted) throw closedError();
  if (signal?.aborted) throw aborted(signal);
  using ends = new JoinedSignal([closing, signal], timeoutMs);
  const operation = new Operation(place, ends.signal);
  try {
    const result = await run(operation);
    signal?.throwIfAborted(); // git may have ended just before it was aborted
    return result;
  } catch (error) {
    if (closing.aborted) throw closedError();
    if (signal?.aborted) throw aborted(signal);
    throw ends.isLate ? tooLate(timeoutMs) : error;
  } finally {
    operation.end();
  }
}

function tooLate(timeoutMs: number): QuernError {
  const message = `git took longer than ${timeoutMs / 1000} s; narrow the request: a path, a shorter time, another expression`;
  return new QuernError("INVALID_REQUEST", message);
}
