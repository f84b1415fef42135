/**
 * Reads the contents that the index lacks, and sends them to the threads in batches. The memory for contents is
 * limited, however large the repository is.
 */

import { QuernError } from "../../base/errors.ts";
import type { BatchContent, BatchFile } from "./batch.ts";
import type { RunBounds } from "./bounds.ts";
import type { DiskRoom } from "./disk-room.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { HostCalls } from "./host-calls.ts";
import type { RepositoryRun, Wanted } from "./repository-run.ts";
import type { IndexProgress } from "./report.ts";
import { throwIfAborted } from "../../base/abort.ts";
import { Slice } from "../../base/yield.ts";
import type { Listing } from "../sources/source.ts";

const BATCH_FILES = 256;
const BATCH_BYTES = 2 * 2 ** 20;
/**
 * The number of contents that are requested in advance, so that a source that reads from another process, such as
 * git, never waits for a request.
 */
const READ_AHEAD = 16;

interface Reading {
  readonly dispatcher: Dispatcher;
  readonly room: DiskRoom;
  readonly bounds: RunBounds;
  readonly signal: AbortSignal;
  readonly host: HostCalls;
  readonly onProgress: (progress: IndexProgress) => void;
}

/** Reads the contents of a listing. Resolves when the threads have processed every file that had to be read. */
export async function readContents(
  run: RepositoryRun,
  listing: Listing,
  reading: Reading,
): Promise<void> {
  const reader = new Reader(run, reading);
  const slice = new Slice({ signal: reading.signal });
  for await (const entries of reading.host.each(listing.entries())) {
    throwIfAborted(reading.signal);
    for (const entry of entries) {
      if (slice.isOver) await slice.rest();
      const wanted = run.list(entry);
      if (wanted) await reader.want(wanted);
    }
    reader.progress("list");
  }
  await reader.end();
  await reading.dispatcher.drain();
  for (const wanted of run.unlisted) await reader.want(wanted);
  await reader.end();
  await reading.dispatcher.drain();
  reader.progress("content");
}

interface Pending {
  readonly wanted: Wanted;
  readonly content: Promise<BatchContent> | BatchContent;
}

class Reader {
  readonly #run: RepositoryRun;
  readonly #reading: Reading;
  #ahead: Pending[] = [];
  #batch: { wanted: Wanted; file: BatchFile }[] = [];
  #batchBytes = 0;

  constructor(run: RepositoryRun, reading: Reading) {
    this.#run = run;
    this.#reading = reading;
  }

  async want(wanted: Wanted): Promise<void> {
    const content = startReading(wanted.content);
    // the promise may reject before it is awaited, which must not be reported as an unhandled rejection
    if (content instanceof Promise) content.catch(() => undefined);
    this.#ahead.push({ wanted, content });
    if (this.#ahead.length >= READ_AHEAD || !(content instanceof Promise)) await this.#take();
  }

  async end(): Promise<void> {
    while (this.#ahead.length > 0) await this.#take();
    await this.#dispatch();
  }

  /** Waits for the oldest requested content, and moves it to the batch. */
  async #take(): Promise<void> {
    const { wanted, content } = this.#ahead.shift()!;
    const ready =
      content instanceof Promise ? await this.#reading.host.wait(orUnreadable(content)) : content;
    if (ready === undefined) {
      this.#run.settle(wanted, { kind: "skipped", bytes: 0, reason: "unreadable" });
      return;
    }
    this.#batch.push({ wanted, file: { ...wanted.file, content: ready } });
    if ("bytes" in ready) this.#batchBytes += ready.bytes.length;
    else if ("file" in ready) this.#batchBytes += wanted.size; // the thread reads the file
    if (this.#batch.length >= BATCH_FILES || this.#batchBytes >= BATCH_BYTES)
      await this.#dispatch();
  }

  async #dispatch(): Promise<void> {
    const [batch, bytes] = [this.#batch, this.#batchBytes];
    this.#batch = [];
    this.#batchBytes = 0;
    if (batch.length === 0) return;
    const { bounds, room, dispatcher } = this.#reading;
    if (this.#run.bytesWanted > bounds.mostContentBytes) throw tooMuchContent(this.#run, bounds);
    await room.check(this.#run.target.name);
    await dispatcher.dispatch({
      repository: this.#run.id,
      files: batch.map(({ file }) => file),
      shares: this.#mayShare(bytes),
      settle: (position, outcome) => this.#run.settle(batch[position]!.wanted, outcome),
    });
    this.progress("content");
  }

  /**
   * Returns whether the next batch may borrow the content of stored segments. This is worthwhile only if the
   * repository is new and large enough.
   */
  #mayShare(bytes: number): boolean {
    const { target, bytesWanted, bytesRead } = this.#run;
    const { leastSharedBytes } = this.#reading.bounds;
    return !target.known && Math.max(bytesWanted, bytesRead + bytes) >= leastSharedBytes;
  }

  progress(stage: "list" | "content"): void {
    this.#reading.onProgress(this.#run.progress(stage));
  }
}

function startReading(content: Wanted["content"]): Promise<BatchContent> | BatchContent {
  if (!("read" in content)) return content;
  // read() is called within a promise, so that an error thrown by read() appears when the content is awaited
  return Promise.resolve()
    .then(() => content.read())
    .then((bytes) => ({ bytes }));
}

async function orUnreadable(content: Promise<BatchContent>): Promise<BatchContent | undefined> {
  try {
    return await content;
  } catch (error) {
    if (error instanceof QuernError && error.code === "SOURCE_UNREADABLE") return undefined;
    throw error;
  }
}

export const tooMuchContent = (
  { target }: RepositoryRun,
  { mostContentBytes }: RunBounds,
): QuernError =>
  new QuernError(
    "SOURCE_UNREADABLE",
    `the files of ${target.name} have more than ${mostContentBytes} bytes; omit files or revisions, or divide the repository`,
  );
