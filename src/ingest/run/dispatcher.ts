/**
 * Distributes batches to the threads. Each thread works on one batch at a time, and fills one segment. The caller
 * waits while all threads are busy. So at most one batch per thread is in memory.
 */

import { QuernError } from "../../base/errors.ts";
import type { NewLayout } from "../../store/format/format.ts";
import type { WrittenSegment } from "../../store/segments/segment-writer.ts";
import type { Pool } from "../../threads/pool.ts";
import type { RunBounds } from "./bounds.ts";
import type { Batch, BatchFile, BatchResult, FinishResult, Outcome } from "./batch.ts";

/** Files of one repository that a thread is to index, with a callback for the result of each file. */
export interface Work {
  readonly repository: number;
  readonly files: readonly BatchFile[];
  readonly shares: boolean;
  readonly settle: (position: number, outcome: Outcome) => void;
}

export interface DispatcherOptions {
  readonly pool: Pool;
  readonly owner: string;
  readonly maxFileSize: number;
  readonly memoryBudget: number;
  readonly bounds: RunBounds;
  readonly layout: NewLayout;
  readonly firstSegment: number;
  /** Called when a segment has been written, but is not yet published. */
  readonly onSegment: (written: WrittenSegment) => void;
}

interface Seat {
  readonly worker: number;
  /** Resolves when the thread has finished its batch. Undefined if the thread is free. */
  busy: Promise<void> | undefined;
  /** The number of the open segment. */
  segment: number | undefined;
  files: number;
  /** The number of stored segments whose content the open segment may borrow. */
  lenders: number;
  readonly repositories: Set<number>;
}

export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #seats: readonly Seat[];
  #nextSegment: number;
  #failure: unknown;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#nextSegment = options.firstSegment;
    this.#seats = Array.from({ length: options.pool.lanes }, (_, worker) => ({
      worker,
      busy: undefined,
      segment: undefined,
      files: 0,
      lenders: 0,
      repositories: new Set(),
    }));
  }

  /** The next free segment number. It is greater than the number of every segment that was begun. */
  get nextSegment(): number {
    return this.#nextSegment;
  }

  /** Reserves a number for a segment that another module writes. */
  takeSegment(): number {
    return this.#nextSegment++;
  }

  /** Sends a batch to a thread. Resolves when a thread has accepted the batch. Rejects if an earlier batch failed. */
  async dispatch(work: Work): Promise<void> {
    const seat = await this.#freeSeat();
    seat.busy = this.#work(seat, work)
      .catch((error: unknown) => void (this.#failure ??= error))
      .finally(() => (seat.busy = undefined));
  }

  /** Waits until every batch is done. Rejects if a batch failed. */
  async drain(): Promise<void> {
    await this.#allFree();
    this.#rethrow();
  }

  async finish(): Promise<void> {
    await this.drain();
    await Promise.all(this.#seats.map((seat) => this.#finish(seat)));
  }

  /** Drops the open segments of all threads after a failure. Never rejects. */
  async discard(): Promise<void> {
    await this.#allFree();
    await Promise.all(
      this.#seats.map((seat) =>
        this.#run(seat, "ingest.discard", undefined).catch(() => undefined),
      ),
    );
  }

  /**
   * Returns whether an open segment contains files of the repository, or will contain some when the dispatched
   * batches are done.
   */
  isOpenFor(repository: number): boolean {
    return this.#seats.some((seat) => seat.repositories.has(repository));
  }

  async #freeSeat(): Promise<Seat> {
    for (;;) {
      this.#rethrow();
      const free = this.#seats.find((seat) => !seat.busy);
      if (free) return free;
      await Promise.race(this.#seats.flatMap((seat) => seat.busy ?? []));
    }
  }

  async #allFree(): Promise<void> {
    await Promise.all(this.#seats.flatMap((seat) => seat.busy ?? []));
  }

  #rethrow(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #work(seat: Seat, { repository, files, shares, settle }: Work): Promise<void> {
    const { owner, maxFileSize, memoryBudget, bounds, layout } = this.#options;
    for (let from = 0; from < files.length;) {
      seat.segment ??= this.#nextSegment++;
      seat.repositories.add(repository);
      const batch: Batch = {
        repository,
        segment: seat.segment,
        owner,
        layout,
        maxFileSize,
        memoryBytes: memoryBudget / this.#seats.length,
        segmentBytes: bounds.segmentBytes,
        leastSharedBytes: shares ? bounds.leastSharedBytes : Infinity,
        files: from === 0 ? files : files.slice(from),
      };
      const { outcomes, isFull, lenders } = await this.#run<BatchResult>(seat, "ingest.add", batch);
      seat.files += outcomes.filter(isNewFile).length;
      seat.lenders = lenders;
      outcomes.forEach((outcome, i) => settle(from + i, outcome));
      from += outcomes.length;
      if (isFull) await this.#finish(seat);
    }
  }

  async #finish(seat: Seat): Promise<void> {
    if (seat.segment === undefined) return;
    const numbers = Array.from({ length: seat.lenders }, () => this.takeSegment());
    const written = await this.#run<FinishResult>(seat, "ingest.finish", numbers);
    const expected = seat.files;
    seat.segment = undefined;
    seat.files = 0;
    seat.lenders = 0;
    seat.repositories.clear();
    // the counts differ if a thread died between two batches, and its open segment was lost
    if (written.reduce((sum, { files }) => sum + files, 0) !== expected)
      throw new QuernError(
        "INTERNAL",
        "a worker thread died while indexing, so nothing was published: index again",
      );
    for (const segment of written) this.#options.onSegment(segment);
  }

  #run<O>({ worker }: Seat, task: string, input: unknown): Promise<O> {
    return this.#options.pool.run<O>(task, input, { lane: "ingest", worker });
  }
}

const isNewFile = (outcome: Outcome): boolean =>
  outcome.kind === "added" || outcome.kind === "listed";
