/** A semaphore: lets so many callers run at once; the others wait in the order in which they came. */

import { aborted } from "./abort.ts";

export class Turns {
  readonly #most: number;
  #taken = 0;
  readonly #waiting = new Set<() => void>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Resolves to what gives the turn back; rejects with ABORTED. */
  async take(signal: AbortSignal | undefined): Promise<() => void> {
    if (signal?.aborted) throw aborted(signal);
    if (this.#taken >= this.#most) await this.#wait(signal);
    else this.#taken++;
    let isHeld = true;
    return () => {
      if (isHeld) this.#pass();
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

  /** The turn goes to whoever waits longest. */
  #pass(): void {
    const [next] = this.#waiting;
    if (next === undefined) return void this.#taken--;
    this.#waiting.delete(next);
    next();
  }
}
