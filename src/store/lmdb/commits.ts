/**
 * Write transactions of LMDB, on disks that refuse too. What `lmdb` leaves to its callers:
 *
 * - Why a transaction failed is told by a promise of the error's own.
 * - What it would flush after a failed one is never flushed, and closing waits for it.
 * - Once a write to its first two pages has failed LMDB gives up the file (MDB_PANIC) until the process
 *   ends. A transaction that is begun then has no answer, or takes no lock. Reading says so, and is asked.
 */

import type { RootDatabase } from "lmdb";
import { Room } from "./data-file.ts";

/** Within which a transaction that will have no answer is seen. */
const GIVEN_UP_CHECK_MS = 500;
// flags of lmdb's transactionSync: 1 can be aborted, 2 runs now, 0x10000 lets the next one begin before it is flushed
const FLUSHED_LATER = 0x1_0003;

export class Commits {
  readonly room: Room;
  readonly #database: RootDatabase<Uint8Array, Uint8Array>;
  /** The last one: then nothing is left that closing could wait for. */
  #hasFailed = false;

  constructor(database: RootDatabase<Uint8Array, Uint8Array>, file: string) {
    this.#database = database;
    this.room = new Room(file);
  }

  /** Resolves when what `work` wrote is on the disk. REQUIRES: if it throws, it has not written yet. */
  async run<T>(work: () => T): Promise<T> {
    this.#throwIfGivenUp();
    const watch = new AbortController();
    try {
      const result = await Promise.race([this.#commit(work), this.#givenUp(watch.signal)]);
      this.#hasFailed = false;
      return result;
    } catch (error) {
      throw await this.#reasonOf(error);
    } finally {
      watch.abort();
    }
  }

  async #commit<T>(work: () => T): Promise<T> {
    const result = await this.#database.transaction(work);
    await this.#database.flushed;
    return result;
  }

  /** On this thread, and flushed to the disk later, at the latest with the next run(). Undone if `work` throws. */
  runHere<T>(work: () => T): T {
    this.#throwIfGivenUp();
    const transact = this.#database.transactionSync.bind(this.#database) as <R>(
      action: () => R,
      flags: number,
    ) => R;
    return transact(work, FLUSHED_LATER);
  }

  /** What was made longer is cut to what is in use. Before close(), which may have to be quick. */
  async trim(): Promise<void> {
    if (!this.room.isUsed || this.#hasFailed) return;
    await this.run(() => this.room.trim()).catch(() => undefined); // the next who closes does it
  }

  async close(): Promise<void> {
    const closed = this.#database.close();
    if (!this.#hasFailed) await closed;
    this.room.close();
  }

  #throwIfGivenUp(): void {
    const database = this.#database as unknown as {
      resetReadTxn(): void;
      useReadTransaction(): { done(): void };
    };
    database.resetReadTxn();
    database.useReadTransaction().done();
  }

  /** Rejects once LMDB has given up the file. */
  #givenUp(signal: AbortSignal): Promise<never> {
    return new Promise((_, reject) => {
      const timer = setInterval(() => {
        try {
          this.#throwIfGivenUp();
        } catch (error) {
          this.#hasFailed = true;
          reject(error as Error);
        }
      }, GIVEN_UP_CHECK_MS);
      signal.addEventListener("abort", () => clearInterval(timer));
    });
  }

  async #reasonOf(error: unknown): Promise<unknown> {
    const { commitError } = error as { commitError?: Promise<never> };
    if (!commitError) return error;
    this.#hasFailed = true;
    return commitError.catch((reason: unknown) => reason);
  }
}
