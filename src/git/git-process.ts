/**
 * Runs the git command in one repository, without prompts, pagers, locks or the network. It ignores variables in the
 * caller's environment that point to other repositories. Commands that list objects read untrusted names from standard
 * input, never from arguments. In commands that read history, an untrusted name is only the value of an option
 * (`--option=value`), or comes after `--`.
 */

import {
  spawn,
  type ChildProcess,
  type ChildProcessByStdio,
  type ChildProcessWithoutNullStreams,
} from "node:child_process";
import type { Readable } from "node:stream";
import { QuernError } from "../base/errors.ts";
import { aborted, throwIfAborted } from "../base/abort.ts";
import { newPause } from "../base/yield.ts";
import { MemoryWatch, MOST_GIT_BYTES } from "./memory-watch.ts";
import { Patience, tooSlow } from "./patience.ts";

/**
 * git's variables that are passed on: GIT_EXEC_PATH, and those for configuration, because they may set
 * safe.directory.
 */
const KEPT = /^GIT_(?:CONFIG_\w+|EXEC_PATH)$/;

const OWN_ENVIRONMENT = {
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  GIT_NO_LAZY_FETCH: "1", // missing objects of a partial clone are not fetched
  GIT_NO_REPLACE_OBJECTS: "1", // object ids serve as versions, so replacement objects must not hide the content
  GIT_PAGER: "cat",
  LC_ALL: "C",
};

/**
 * Switches off commands that a repository's own configuration could make git run during a read: hooks, and the
 * file-system monitor, which diff-tree uses. Every version of git takes an empty value as "off".
 */
export const OWN_CONFIGURATION = ["-c", "core.fsmonitor=", "-c", "core.hooksPath="];

/** Returns the environment for git: that of this process without most of git's variables, plus `extra`. */
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
  /** The exit code, or -1 if it was killed. */
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
  /** Whether the output was longer than `mostBytes`. */
  readonly isCut: boolean;
}

const MAX_STDERR = 4096;
/**
 * The maximum number of characters of output that run() accepts. sync has the same limit for a remote's list of
 * references.
 */
const MOST_TEXT = 2 ** 27;
/** The maximum number of bytes of a list of records. This is enough for five million files with long paths. */
const MOST_LISTED = 2 ** 31;

/** The git processes of one operation. kill() and the signal end them all. */
export class GitProcesses {
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #live = new Set<ChildProcess>();
  readonly #memory: MemoryWatch;
  readonly #onAbort = () => this.#killAll();
  /** Set once a process was silent for too long or used too much memory. All processes then fail with this error. */
  #lost: QuernError | undefined;

  /**
   * `extra` is added to the environment. REQUIRES: `folder` exists. Otherwise spawning fails with the error for a
   * missing git.
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
    this.#track(child);
    child.stdin.on("error", () => {}); // the process ended before it read everything; callers notice its end
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
    this.#track(child);
    return child;
  }

  /** Creates a timer for the silence of one process. When it expires, all processes are ended. */
  patience(): Patience {
    return new Patience((ms) => this.#lose(tooSlow(this.folder, ms)));
  }

  #lose(error: QuernError): void {
    this.#lost ??= error;
    this.#killAll();
  }

  /**
   * The error if no more processes may be used: ABORTED, or SOURCE_UNREADABLE if they took too long or too much
   * memory.
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
   * Runs git to its end and resolves to its whole output, which must be small. Rejects with GIT_MISSING or ABORTED. If
   * git fails, the result says so.
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
   * Runs git to its end with `input` as its standard input, and resolves to its output. A process that writes more than
   * `mostBytes` is ended, and `isCut` is true.
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
   * Yields the NUL-terminated records of the output in batches. Each batch ends before the NUL of its last record. A
   * record that is longer than any indexed path may be truncated.
   */
  async *records(args: readonly string[], mostBytes = MOST_LISTED): AsyncGenerator<Buffer> {
    const child = this.#startReading(args);
    const stderr = collectStderr(child.stderr);
    const end = ended(child);
    end.catch(() => {}); // awaited below, unless the caller leaves the loop early
    try {
      const isWhole = yield* nulRecords(this.#bounded(this.#chunks(child.stdout), mostBytes));
      const code = await end;
      this.throwIfOver();
      if (code !== 0 || !isWhole) throw failed(this.folder, stderr());
    } finally {
      child.kill();
    }
  }

  /** Resolves to the exit code. Rejects if the process is silent for too long. */
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

  /** Yields the output. Throws if the process is silent for too long while the caller waits. */
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
   * Limits the output, because a few nested folders with long names, each used many times, can make an endless listing.
   */
  async *#bounded(chunks: AsyncIterable<Buffer>, mostBytes: number): AsyncGenerator<Buffer> {
    let bytes = 0;
    for await (const chunk of chunks) {
      if ((bytes += chunk.length) > mostBytes) throw tooLong(this.folder, mostBytes);
      yield chunk;
    }
  }

  /** Ends all processes. Idempotent. */
  kill(): void {
    this.signal.removeEventListener("abort", this.#onAbort);
    this.#killAll();
  }

  #killAll(): void {
    for (const child of this.#live) child.kill();
  }
}

/** The maximum number of bytes that are kept of a record that spans chunks. No indexed path is as long. */
const LONGEST_RECORD = 2 ** 16;

/** Yields batches of whole records of an output. Returns whether the output ended with a NUL, or was empty. */
export async function* nulRecords(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, boolean> {
  let rest: Buffer[] = [];
  let length = 0; // bytes since the last NUL, including those that are not kept
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

/** Joins chunks with yields between them, because joining 32 MiB takes 10 ms. */
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
  const message = `git lists over ${most} bytes of paths of the repository ${folder}; its folders may have endless names, or name each other over and over`;
  return new QuernError("SOURCE_UNREADABLE", message);
}

function tooMuchMemory(folder: string, most: number): QuernError {
  const message = `git takes over ${most} bytes of memory for the repository ${folder}; objects that are made from each other may be in it; git fsck may tell more`;
  return new QuernError("SOURCE_UNREADABLE", message);
}

export function failed(folder: string, stderr: string): QuernError {
  const why = stderr === "" ? "it ended without a message" : stderr;
  const message = `git could not read the repository ${folder} (${why}); git fsck may tell more`;
  return new QuernError("SOURCE_UNREADABLE", message);
}
