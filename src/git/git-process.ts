/**
 * Runs the git command in one repository, without prompts, pagers, locks or the network. Variables in the caller's
 * environment that point to other repositories are not passed on. git could take an untrusted name for an option. So
 * names of objects are sent to git through its standard input. Any other untrusted name is an argument only in a safe
 * form. It is the value of an option (`--option=value`), comes after `--`, or is the full name of a reference, which
 * begins with `refs/`.
 */

import {
  spawn,
  type ChildProcess,
  type ChildProcessByStdio,
  type ChildProcessWithoutNullStreams,
} from "node:child_process";
import type { Readable } from "node:stream";
import { isOutOfFiles, mustHaveStreams, outOfFiles } from "../base/out-of-files.ts";
import { QuernError } from "../base/errors.ts";
import { aborted, throwIfAborted } from "../base/abort.ts";
import { newPause } from "../base/yield.ts";
import { MemoryWatch, MOST_GIT_BYTES } from "./memory-watch.ts";
import { Patience, tooSlow } from "./patience.ts";

/**
 * Matches the variables of git that are passed on. These are GIT_EXEC_PATH, and the variables for configuration,
 * because they may set safe.directory.
 */
const KEPT = /^GIT_(?:CONFIG_\w+|EXEC_PATH)$/;

const OWN_ENVIRONMENT = {
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  GIT_NO_LAZY_FETCH: "1", // git must not fetch the missing objects of a partial clone
  GIT_NO_REPLACE_OBJECTS: "1", // ids of objects are used as versions, so no object may be replaced by another one
  GIT_PAGER: "cat",
  LC_ALL: "C",
};

/**
 * Options that switch off the commands that git could run during a read because of a repository's configuration.
 * These are hooks, and the file-system monitor, which diff-tree uses. In every version of git, an empty value
 * switches them off.
 */
export const OWN_CONFIGURATION = ["-c", "core.fsmonitor=", "-c", "core.hooksPath="];

/**
 * Returns the environment in which git runs. It is the environment of this process, without most of git's variables,
 * and with the variables in `extra`.
 */
export function gitEnvironment(extra: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([key]) => !key.startsWith("GIT_") || KEPT.test(key),
  );
  return { ...Object.fromEntries(kept), ...OWN_ENVIRONMENT, ...extra };
}

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Output {
  /** The exit code, or -1 if the process was killed. */
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
  /** True if the output was longer than `mostBytes`. */
  readonly isCut: boolean;
}

const MAX_STDERR = 4096;
/**
 * The maximum length of the output that run() accepts, in characters. `quern/sync` has the same limit for the list of
 * references of a remote.
 */
const MOST_TEXT = 2 ** 27;
/** The maximum length of the output of records(), in bytes. This is enough for five million files with long paths. */
const MOST_LISTED = 2 ** 31;

/** The git processes of one operation. All of them end when kill() is called or the signal is aborted. */
export class GitProcesses {
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #live = new Set<ChildProcess>();
  readonly #memory: MemoryWatch;
  readonly #onAbort = () => this.#killAll();
  /**
   * Set when a process was silent for too long or used too much memory. After that, all commands fail with this
   * error.
   */
  #lost: QuernError | undefined;

  /**
   * `extra` is added to the environment of git. REQUIRES: `folder` exists, because otherwise starting git fails with
   * the same error as if git were not installed.
   */
  constructor(
    folder: string,
    signal: AbortSignal,
    extra: Readonly<Record<string, string>> = {},
    mostBytes = MOST_GIT_BYTES,
  ) {
    this.folder = folder;
    this.signal = signal;
    this.#environment = gitEnvironment(extra);
    this.#memory = new MemoryWatch(this.#live, mostBytes, () =>
      this.#lose(tooMuchMemory(folder, mostBytes)),
    );
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Starts git with a pipe for standard input. */
  start(args: readonly string[]): ChildProcessWithoutNullStreams {
    throwIfAborted(this.signal);
    const child = spawn("git", [...OWN_CONFIGURATION, ...args], {
      cwd: this.folder,
      env: this.#environment,
      windowsHide: true,
    });
    mustHaveStreams(child);
    this.#track(child);
    // an error means that the process ended before it had read its input; the caller learns this when it closes
    child.stdin.on("error", () => {});
    return child;
  }

  #startReading(args: readonly string[]): ChildProcessByStdio<null, Readable, Readable> {
    throwIfAborted(this.signal);
    const child = spawn("git", [...OWN_CONFIGURATION, ...args], {
      cwd: this.folder,
      env: this.#environment,
      windowsHide: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    mustHaveStreams(child);
    this.#track(child);
    return child;
  }

  /**
   * Creates a timer that limits how long one process may be silent. When the timer expires, all processes are killed.
   */
  patience(): Patience {
    return new Patience((ms) => this.#lose(tooSlow(this.folder, ms)));
  }

  #lose(error: QuernError): void {
    this.#lost ??= error;
    this.#killAll();
  }

  /**
   * The error with which the operation has ended, or undefined if it continues. The code is ABORTED, or
   * SOURCE_UNREADABLE if a process was silent for too long or used too much memory.
   */
  get isOver(): QuernError | undefined {
    return this.signal.aborted ? aborted(this.signal) : this.#lost;
  }

  throwIfOver(): void {
    if (this.isOver) throw this.isOver;
  }

  #track(child: ChildProcess): void {
    this.#live.add(child);
    this.#memory.begin();
    child.once("close", () => this.#live.delete(child));
    child.once("error", () => this.#live.delete(child));
  }

  /**
   * Runs git until it ends, and resolves to its whole output, which must be small. If git fails, the promise still
   * resolves, with the exit code of git. Rejects if git cannot be started, for example with GIT_MISSING, or if the
   * operation has ended, for example with ABORTED.
   */
  async run(args: readonly string[]): Promise<Finished> {
    const child = this.#startReading(args);
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (stdout.length < MOST_TEXT) stdout += text;
      else child.kill();
    });
    const stderr = collectStderr(child.stderr);
    const code = await this.#ended(child);
    return { code, stdout, stderr: stderr() };
  }

  /**
   * Runs git until it ends, with `input` as its standard input, and resolves to its output. A process that writes
   * more than `mostBytes` is killed, and `isCut` is true.
   */
  async output(
    args: readonly string[],
    { mostBytes, input = "" }: { mostBytes: number; input?: string },
  ): Promise<Output> {
    const child = this.start(args);
    const chunks: Buffer[] = [];
    let bytes = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= mostBytes) chunks.push(chunk);
      else child.kill();
    });
    const stderr = collectStderr(child.stderr);
    child.stdin.end(input);
    const code = await this.#ended(child);
    return { code, stdout: await joined(chunks), stderr: stderr(), isCut: bytes > mostBytes };
  }

  /**
   * Runs git, and yields its output in batches of records, each of which ends with NUL. A batch has no NUL after its
   * last record. A record that is longer than any indexed path may be truncated.
   */
  async *records(args: readonly string[], mostBytes = MOST_LISTED): AsyncGenerator<Buffer> {
    const child = this.#startReading(args);
    const stderr = collectStderr(child.stderr);
    const end = ended(child);
    end.catch(() => {}); // `end` is awaited below, unless the caller leaves the loop early
    try {
      const isWhole = yield* nulRecords(this.#bounded(this.#chunks(child.stdout), mostBytes));
      const code = await end;
      this.throwIfOver();
      if (code !== 0 || !isWhole) throw failed(this.folder, stderr());
    } finally {
      child.kill();
    }
  }

  /** Runs git with `input` as its standard input, and yields its output as it comes. Rejects if git fails. */
  async *stream(args: readonly string[], input: string): AsyncGenerator<Buffer> {
    const child = this.start(args);
    const stderr = collectStderr(child.stderr);
    const end = ended(child);
    end.catch(() => {}); // `end` is awaited below, unless the caller leaves the loop early
    child.stdin.end(input);
    try {
      yield* this.#chunks(child.stdout);
      const code = await end;
      this.throwIfOver();
      if (code !== 0) throw failed(this.folder, stderr());
    } finally {
      child.kill();
    }
  }

  /** Waits for the end of a process, and resolves to its exit code. Rejects if the process is silent for too long. */
  async #ended(child: ChildProcess): Promise<number> {
    const patience = this.patience();
    child.stdout?.on("data", () => patience.expect());
    patience.expect();
    try {
      return await ended(child);
    } finally {
      patience.rest();
      this.throwIfOver();
    }
  }

  /**
   * Yields the output of a process. The time in which the caller is busy does not count as silence of the process.
   */
  async *#chunks(stream: Readable): AsyncGenerator<Buffer> {
    const patience = this.patience();
    try {
      patience.expect();
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        patience.rest();
        yield chunk;
        patience.expect();
      }
    } finally {
      patience.rest();
    }
  }

  /**
   * Limits the length of an output. A listing can be endless, because a few nested folders with long names may each
   * be used many times.
   */
  async *#bounded(chunks: AsyncIterable<Buffer>, mostBytes: number): AsyncGenerator<Buffer> {
    let bytes = 0;
    for await (const chunk of chunks) {
      if ((bytes += chunk.length) > mostBytes) throw tooLong(this.folder, mostBytes);
      yield chunk;
    }
  }

  /** Kills all processes. May be called more than once. */
  kill(): void {
    this.signal.removeEventListener("abort", this.#onAbort);
    this.#killAll();
  }

  #killAll(): void {
    for (const child of this.#live) child.kill();
  }
}

/**
 * If a record spans several chunks, the chunks after this many bytes of the record are dropped. No record with an
 * indexed path is that long.
 */
const LONGEST_RECORD = 2 ** 16;

/** Divides an output into batches of whole records. Returns true if the output ended with NUL or was empty. */
export async function* nulRecords(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, boolean> {
  let rest: Buffer[] = [];
  let length = 0; // the number of bytes since the last NUL, including dropped ones
  for await (const chunk of chunks) {
    const last = chunk.lastIndexOf(0);
    if (last === -1) {
      if (length < LONGEST_RECORD) rest.push(chunk);
      length += chunk.length;
      continue;
    }
    const head = chunk.subarray(0, last);
    yield rest.length === 0 ? head : Buffer.concat([...rest, head]);
    rest = last + 1 === chunk.length ? [] : [chunk.subarray(last + 1)];
    length = chunk.length - last - 1;
  }
  return rest.length === 0;
}

/** Joins chunks, with pauses for the event loop, because joining 32 MiB takes 10 ms. */
async function joined(chunks: readonly Buffer[]): Promise<Buffer> {
  const pause = newPause();
  const whole = Buffer.allocUnsafe(chunks.reduce((bytes, { length }) => bytes + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    at += chunk.copy(whole, at);
    await pause();
  }
  return whole;
}

function collectStderr(stream: Readable): () => string {
  let text = "";
  stream.setEncoding("utf8").on("data", (more: string) => {
    if (text.length < MAX_STDERR) text += more;
  });
  return () => text.trim();
}

/** Resolves to the exit code, or -1 if the process was killed. */
function ended(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", (cause) => reject(cannotStart(cause)));
    child.once("close", (code) => resolve(code ?? -1));
  });
}

export function cannotStart(cause: unknown): QuernError {
  if (isOutOfFiles(cause)) return outOfFiles(cause);
  const { code } = cause as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "EACCES") {
    const message =
      "there is no git command on the PATH; install git, or index the folder with directory()";
    return new QuernError("GIT_MISSING", message, { cause });
  }
  const message = `the git command cannot be started: ${String(cause)}`;
  return new QuernError("SOURCE_UNREADABLE", message, { cause });
}

function tooLong(folder: string, most: number): QuernError {
  const message = `git lists over ${most} bytes of paths of the repository ${folder}; its folders may have endless names, or contain each other`;
  return new QuernError("SOURCE_UNREADABLE", message);
}

function tooMuchMemory(folder: string, most: number): QuernError {
  const message = `git takes over ${most} bytes of memory for the repository ${folder}; it may contain objects that are deltas of each other; run git fsck for details`;
  return new QuernError("SOURCE_UNREADABLE", message);
}

export function failed(folder: string, stderr: string): QuernError {
  const why = stderr === "" ? "it ended without a message" : stderr;
  const message = `git could not read the repository ${folder} (${why}); run git fsck for details`;
  return new QuernError("SOURCE_UNREADABLE", message);
}
