/**
 * Reads objects of a repository through one long-lived process, `git cat-file --batch`. With `--batch-check`, git
 * answers only with the headers of objects. Requests are written as they come, and answers arrive in the same order.
 * Each pack that a process has read stays memory-mapped. So a process is replaced after a number of objects or bytes.
 * The old process answers its remaining requests, and then ends.
 *
 * A damaged object can kill the process. In this case, the request that the process was answering is repeated in a
 * new process. If the new process dies, too, the object counts as unreadable, and reading continues with the next
 * request.
 *
 * The calling thread spends about 10 µs per object. Throughput is limited by git's decompression.
 */

import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { QuernError } from "../base/errors.ts";
import { cannotStart, type GitProcesses } from "./git-process.ts";
import type { Patience } from "./patience.ts";

export interface GitObject {
  readonly id: string;
  readonly type: string;
  /** The length of the content in bytes. */
  readonly size: number;
  /** The content. It has its own buffer, which may be transferred to another thread. Empty with --batch-check. */
  readonly content: Uint8Array<ArrayBuffer>;
}

export interface ObjectLimits {
  /** A process is replaced when it has read this number of objects, or this number of bytes. */
  readonly objects: number;
  readonly bytes: number;
  /**
   * The maximum size of an object, in bytes. The content of a larger object is discarded as it arrives, and the
   * request rejects.
   */
  readonly maxSize: number;
  /** The maximum number of processes that may die. After that, all requests are rejected. */
  readonly deaths: number;
}

export const OBJECT_LIMITS: ObjectLimits = {
  objects: 100_000,
  bytes: 2 ** 31,
  maxSize: 2 ** 26,
  deaths: 40,
};

interface Request {
  readonly name: string;
  readonly resolve: (object: GitObject | undefined) => void;
  readonly reject: (error: QuernError) => void;
  /** The number of processes that have died while they were answering this request. */
  deaths: number;
}

export class ObjectReader {
  readonly #git: GitProcesses;
  readonly #mode: "--batch" | "--batch-check";
  readonly #limits: ObjectLimits;
  #batch: Batch | undefined;
  #deaths = 0;
  #closed: QuernError | undefined;

  constructor(
    git: GitProcesses,
    mode: "--batch" | "--batch-check",
    limits: ObjectLimits = OBJECT_LIMITS,
  ) {
    this.#git = git;
    this.#mode = mode;
    this.#limits = limits;
  }

  /**
   * Reads the object with a name, which may be any expression that git accepts. Resolves to undefined if there is no
   * such object. REQUIRES: `name` contains no line feed.
   */
  read(name: string): Promise<GitObject | undefined> {
    return new Promise((resolve, reject) => this.#send({ name, resolve, reject, deaths: 0 }));
  }

  /** Closes the reader. Requests that are not yet answered may still be answered, or reject with ABORTED. */
  close(): void {
    this.#closed ??= new QuernError("ABORTED", "the listing was closed");
    this.#batch?.end();
    this.#batch = undefined;
  }

  #send(request: Request): void {
    if (this.#closed !== undefined) return request.reject(this.#closed);
    try {
      this.#batch ??= this.#start();
    } catch (error) {
      return request.reject(error as QuernError);
    }
    this.#batch.ask(request);
    if (!this.#batch.isWorn) return;
    this.#batch.end();
    this.#batch = undefined;
  }

  #start(): Batch {
    const child = this.#git.start(["cat-file", this.#mode]);
    const patience = this.#git.patience();
    const batch: Batch = new Batch(child, this.#mode === "--batch", this.#limits, patience);
    batch.whenOver((left, error) => this.#over(batch, left, error));
    return batch;
  }

  #over(batch: Batch, left: readonly Request[], error: QuernError | undefined): void {
    if (this.#batch === batch) this.#batch = undefined;
    if (left.length === 0) return;
    if (this.#git.isOver) this.#closed ??= this.#git.isOver;
    else if (error !== undefined) this.#closed ??= error;
    else if (++this.#deaths > this.#limits.deaths) this.#closed ??= unreadable("git keeps failing");
    const [first, ...others] = left;
    if (first !== undefined && ++first.deaths > 1) {
      first.reject(this.#closed ?? unreadable(`git cannot read the object ${first.name}`));
    } else if (first !== undefined) this.#send(first);
    for (const request of others) this.#send(request);
  }
}

function unreadable(why: string): QuernError {
  return new QuernError("SOURCE_UNREADABLE", `${why}; run git fsck for details`);
}

const LF = 0x0a;
const EMPTY = new Uint8Array(0);
const MAX_HEADER = 8192;

/** One process of git, and the requests that were sent to it. */
class Batch {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #patience: Patience;
  readonly #hasContent: boolean;
  readonly #limits: ObjectLimits;
  /**
   * The requests, in the order in which they were sent. The requests from index #next on wait for an answer. An
   * answered request is removed, because it would keep its content in memory.
   */
  #asked: (Request | undefined)[] = [];
  #next = 0;
  #objects = 0;
  #bytes = 0;
  /** Lines that are not yet written. All lines from one turn of the event loop are written together. */
  #lines = "";
  #header = "";
  #body: Body | undefined;

  constructor(
    child: ChildProcessWithoutNullStreams,
    hasContent: boolean,
    limits: ObjectLimits,
    patience: Patience,
  ) {
    this.#patience = patience;
    this.#child = child;
    this.#hasContent = hasContent;
    this.#limits = limits;
    child.stderr.resume();
    child.stdout.on("data", (chunk: Buffer) => this.#take(chunk));
  }

  /**
   * Calls `report` once, when the process has ended. `report` gets the requests without an answer, and an error if the
   * process could not be started.
   */
  whenOver(report: (left: readonly Request[], error: QuernError | undefined) => void): void {
    let isOver = false;
    const over = (error?: QuernError) => {
      if (isOver) return;
      isOver = true;
      this.#patience.rest();
      report(
        this.#asked.slice(this.#next).filter((request) => request !== undefined),
        error,
      );
    };
    this.#child.once("error", (cause) => over(cannotStart(cause)));
    this.#child.once("close", () => over());
  }

  get #isIdle(): boolean {
    return this.#next === this.#asked.length;
  }

  get isWorn(): boolean {
    return this.#objects >= this.#limits.objects || this.#bytes >= this.#limits.bytes;
  }

  ask(request: Request): void {
    if (this.#isIdle) this.#patience.expect();
    this.#asked.push(request);
    this.#objects++;
    if (this.#lines === "") setImmediate(() => this.#write());
    this.#lines += `${request.name}\n`;
  }

  /** Lets the process end when it has answered all requests. */
  end(): void {
    this.#write();
    this.#child.stdin.end();
  }

  #write(): void {
    if (this.#lines !== "") this.#child.stdin.write(this.#lines);
    this.#lines = "";
  }

  #take(chunk: Buffer): void {
    this.#patience.expect();
    let at = 0;
    while (at < chunk.length) {
      at =
        this.#body === undefined
          ? this.#takeHeader(chunk, at)
          : this.#takeBody(this.#body, chunk, at);
      if (at === -1) return this.#giveUp();
    }
    if (this.#isIdle) this.#patience.rest();
  }

  /**
   * Kills the process, because it has written something that cat-file never writes. From here on, answers cannot be
   * matched to requests.
   */
  #giveUp(): void {
    this.#child.stdout.removeAllListeners("data").resume();
    this.#child.kill();
  }

  /**
   * Reads a header, or as much of it as the chunk contains. Returns the offset after it, or -1 if the bytes are not a
   * header.
   */
  #takeHeader(chunk: Buffer, start: number): number {
    const end = chunk.indexOf(LF, start);
    this.#header += chunk.toString("latin1", start, end === -1 ? chunk.length : end);
    if (end === -1) return this.#header.length > MAX_HEADER ? -1 : chunk.length;
    const header = this.#header;
    this.#header = "";
    const match = /^([0-9a-f]{40,64}) ([a-z]+) (\d+)$/.exec(header);
    if (match === null) {
      if (!/ (?:missing|ambiguous)$/.test(header)) return -1;
      this.#answer()?.resolve(undefined);
      return end + 1;
    }
    const body = new Body(
      match[1]!,
      match[2]!,
      Number(match[3]),
      this.#hasContent ? this.#limits.maxSize : -1,
    );
    if (this.#hasContent) this.#body = body;
    else this.#answer()?.resolve(body.finish());
    return end + 1;
  }

  #takeBody(body: Body, chunk: Buffer, start: number): number {
    const at = body.take(chunk, start);
    if (at === chunk.length) return at;
    if (chunk[at] !== LF) return -1;
    this.#body = undefined;
    this.#bytes += body.size;
    const request = this.#answer();
    if (body.isPassedOver) request?.reject(unreadable(`the object ${body.id} is too large`));
    else request?.resolve(body.finish());
    return at + 1;
  }

  #answer(): Request | undefined {
    const request = this.#asked[this.#next];
    this.#asked[this.#next++] = undefined;
    // shift() is not used, because it would take quadratic time if many requests are pending
    if (this.#next === this.#asked.length || this.#next === 1024) {
      this.#asked = this.#asked.slice(this.#next);
      this.#next = 0;
    }
    return request;
  }
}

/** An object whose header has arrived from git, and whose content is arriving. */
class Body {
  readonly id: string;
  readonly type: string;
  readonly size: number;
  readonly isPassedOver: boolean;
  readonly #content: Uint8Array<ArrayBuffer>;
  #received = 0;

  constructor(id: string, type: string, size: number, maxSize: number) {
    this.id = id;
    this.type = type;
    this.size = size;
    this.isPassedOver = maxSize >= 0 && size > maxSize;
    // this buffer is not taken from Node's pool, because it may be transferred to another thread
    this.#content = maxSize < 0 || this.isPassedOver ? EMPTY : Buffer.allocUnsafeSlow(size);
  }

  /** Takes the bytes of the object that are in the chunk. Returns the offset after them. */
  take(chunk: Buffer, start: number): number {
    const end = Math.min(chunk.length, start + this.size - this.#received);
    if (!this.isPassedOver) this.#content.set(chunk.subarray(start, end), this.#received);
    this.#received += end - start;
    return end;
  }

  finish(): GitObject {
    return { id: this.id, type: this.type, size: this.size, content: this.#content };
  }
}
