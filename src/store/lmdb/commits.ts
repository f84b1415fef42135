/**
 * Runs write transactions of LMDB and handles failing disks. The package `lmdb` leaves three things to its callers:
 *
 * - The error of a failed transaction does not contain the reason. Its property `commitError` is a promise that rejects
 *   with the reason.
 * - After a failed transaction, LMDB no longer flushes, so close() would wait for a flush forever.
 * - Once a write to the first two pages has failed, LMDB gives up the file (MDB_PANIC) until the process ends. A
 *   transaction that begins later may never resolve, or may run without LMDB's lock. In this state, a read transaction
 *   throws, so this class begins a read transaction to detect the state.
 */

import type { RootDatabase } from "lmdb";
import { Room } from "./data-file.ts";

/** While a transaction runs, run() checks at this interval whether LMDB has stopped using the file after an error. */
const GIVEN_UP_CHECK_MS = 500;
// flags of lmdb's transactionSync: 1 = the transaction can be aborted, 2 = it runs immediately, 0x10000 = the next
// transaction may begin before this one is flushed
const FLUSHED_LATER = 0x1_0003;

export class Commits {
  readonly room: Room;
  readonly #database: RootDatabase<Uint8Array, Uint8Array>;
  /** Whether the last transaction failed. If it failed, close() must not wait for a flush. */
  #hasFailed = false;

  constructor(database: RootDatabase<Uint8Array, Uint8Array>, file: string) {
    this.#database = database;
    this.room = new Room(file);
  }

  /**
   * Runs `work` in a transaction. Resolves when the transaction is on the disk. REQUIRES: if `work` throws, it has
   * written nothing.
   */
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

  /**
   * Runs `work` in a transaction on this thread. If `work` throws, the transaction is rolled back. The transaction
   * reaches the disk with the next run() at the latest.
   */
  runSync<T>(work: () => T): T {
    this.#throwIfGivenUp();
    const transact = this.#database.transactionSync.bind(this.#database) as <R>(
      action: () => R,
      flags: number,
    ) => R;
    return transact(work, FLUSHED_LATER);
  }

  /** Truncates the data file to the length in use. This is not part of close(), because close() must be quick. */
  async trim(): Promise<void> {
    if (!this.room.isUsed || this.#hasFailed) return;
    await this.run(() => this.room.trim()).catch(() => undefined); // the next process that closes the file tries again
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

  /** Returns a promise that rejects once LMDB has given up the file. */
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
