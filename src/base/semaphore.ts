/** Limits the number of callers that run at the same time. The others wait, first come, first served. */

import { aborted } from "./abort.ts";

export class Semaphore {
  readonly #limit: number;
  #running = 0;
  readonly #waiting = new Set<() => void>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Waits for a permit, and resolves to a function that releases it. Rejects with ABORTED if `signal` is aborted first.
   */
  async acquire(signal: AbortSignal | undefined): Promise<() => void> {
    if (signal?.aborted) throw aborted(signal);
    if (this.#running >= this.#limit) await this.#wait(signal);
    else this.#running++;
    let isHeld = true;
    return () => {
      if (isHeld) this.#release();
      isHeld = false;
    };
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(enter);
        reject(aborted(signal!));
      };
      const enter = () => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      signal?.addEventListener("abort", leave, { once: true });
      this.#waiting.add(enter);
    });
  }

  /** Hands the permit to the caller that has waited longest, if any. */
  #release(): void {
    const [next] = this.#waiting;
    if (next === undefined) return void this.#running--;
    this.#waiting.delete(next);
    next();
  }
}
