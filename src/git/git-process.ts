/**
 * Runs the git command in one repository, without prompts, pagers, locks or the network. It ignores what the
 * caller's environment says about other repositories. Untrusted names are never arguments of a listing, but
 * written to standard input. In the commands of history they follow a `--name=` or a `--`.
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
import { Patience, silent } from "./patience.ts";

/** Variables of git that are kept: configuration, because safe.directory may be set there. */
const KEPT = /^GIT_(?:CONFIG_\w+|EXEC_PATH)$/;

const OWN_ENVIRONMENT = {
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  GIT_NO_LAZY_FETCH: "1", // missing objects of a partial clone are not fetched
  GIT_NO_REPLACE_OBJECTS: "1", // object ids serve as versions, so they must be hashes of the content
  GIT_PAGER: "cat",
  LC_ALL: "C",
};

/**
 * Switches off the commands of a repository's own configuration that reading could run, such as the file-system
 * monitor, which diff-tree asks about the work tree. An empty value means off in every version of git.
 */
export const OWN_CONFIGURATION = ["-c", "core.fsmonitor=", "-c", "core.hooksPath="];

/** Returns the environment for git: that of this process without most of git's variables, and `extra`. */
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

/** The git processes of one operation. kill() ends them all, and so does the signal. */
export class GitProcesses {
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #live = new Set<{ kill(): void }>();
  readonly #onAbort = () => this.#killAll();
  /** The error of all processes once one of them was silent for too long. */
  #silent: QuernError | undefined;

  /** `extra` is added to the environment. REQUIRES: `folder` exists, otherwise spawning fails as if git were missing. */
  constructor(folder: string, signal: AbortSignal, extra: Readonly<Record<string, string>> = {}) {
    this.folder = folder;
    this.signal = signal;
    this.#environment = gitEnvironment(extra);
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
    child.stdin.on("error", () => {}); // the process ended before it read everything; callers see its end
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
    return new Patience(() => {
      this.#silent ??= silent(this.folder);
      this.#killAll();
    });
  }

  /** The error if no more processes can be used: ABORTED, or SOURCE_UNREADABLE after too long a silence. */
  get isOver(): QuernError | undefined {
    return this.signal.aborted ? aborted(this.signal) : this.#silent;
  }

  throwIfOver(): void {
    if (this.isOver) throw this.isOver;
  }

  #track(child: { kill(): void; once(event: "close" | "error", listener: () => void): unknown }) {
    this.#live.add(child);
    child.once("close", () => this.#live.delete(child));
    child.once("error", () => this.#live.delete(child));
  }

  /** Runs git to its end, for small outputs. Rejects with GIT_MISSING or ABORTED. If git fails, the result says so. */
  async run(args: readonly string[]): Promise<Finished> {
    const child = this.#startReading(args);
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    const stderr = collectStderr(child.stderr);
    const code = await this.#ended(child);
    return { code, stdout, stderr: stderr() };
  }

  /**
   * Runs git to its end with this standard input, and resolves to its output. A process that writes more than
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
    return { code, stdout: Buffer.concat(chunks), stderr: stderr(), isCut: bytes > mostBytes };
  }

  /** Yields the NUL-terminated records of the output in batches. Each batch ends before the NUL of its last record. */
  async *records(args: readonly string[]): AsyncGenerator<Buffer> {
    const child = this.#startReading(args);
    const stderr = collectStderr(child.stderr);
    const end = ended(child);
    end.catch(() => {}); // awaited below, unless the caller leaves the loop early
    try {
      const isWhole = yield* nulRecords(this.#chunks(child.stdout));
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

  /** Ends all processes. Idempotent. */
  kill(): void {
    this.signal.removeEventListener("abort", this.#onAbort);
    this.#killAll();
  }

  #killAll(): void {
    for (const child of this.#live) child.kill();
  }
}

/** The longest record in bytes. Paths in a tree may be longer than those that are indexed, but not endless. */
const LONGEST_RECORD = 1 << 24;

/** Yields batches of whole records of an output. Returns whether the output ended with a NUL, or was empty. */
export async function* nulRecords(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, boolean> {
  let rest: Buffer[] = [];
  let length = 0; // of the rest
  for await (const chunk of chunks) {
    const last = chunk.lastIndexOf(0);
    if (last === -1) {
      rest.push(chunk);
      if ((length += chunk.length) > LONGEST_RECORD) return false;
      continue;
    }
    const head = chunk.subarray(0, last);
    yield rest.length === 0 ? head : Buffer.concat([...rest, head]);
    rest = last + 1 === chunk.length ? [] : [chunk.subarray(last + 1)];
    length = chunk.length - last - 1;
  }
  return rest.length === 0;
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

export function failed(folder: string, stderr: string): QuernError {
  const why = stderr === "" ? "it ended without a message" : stderr;
  const message = `git could not read the repository ${folder} (${why}); git fsck may tell more`;
  return new QuernError("SOURCE_UNREADABLE", message);
}
