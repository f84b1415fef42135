/**
 * Waits for the functions of a source, which a host may have written. A function that ignores its signal, or has none,
 * may never answer. So when the run is aborted, the functions have a second to end by themselves. Then the run gives
 * them up, and rejects.
 */

import { aborted } from "../../base/abort.ts";

/** How long a run waits for its source after an abort, in milliseconds. */
const GRACE_MS = 1_000;

export class HostCalls implements Disposable {
  readonly #signal: AbortSignal;
  readonly #waiting = new Set<() => void>();
  readonly #onAbort = () => void (this.#timer = setTimeout(() => this.#giveUp(), GRACE_MS));
  #timer: NodeJS.Timeout | undefined;
  #hasGivenUp = false;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Settles as `work` does, or rejects with ABORTED if `work` has not settled a second after the abort. */
  wait<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const giveUp = () => reject(aborted(this.#signal));
      this.#waiting.add(giveUp);
      void work.then(resolve, reject).finally(() => this.#waiting.delete(giveUp));
      if (this.#hasGivenUp) giveUp();
    });
  }

  /** Yields the items of an iterable of the host. */
  async *each<T>(items: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T, void> {
    if (!(Symbol.asyncIterator in items)) return yield* items;
    const iterator = items[Symbol.asyncIterator]();
    let isOpen = false;
    try {
      for (;;) {
        isOpen = false;
        const { done, value } = await this.wait(iterator.next());
        if (done) return;
        isOpen = true;
        yield value;
      }
    } finally {
      if (isOpen && iterator.return) await this.wait(iterator.return());
    }
  }

  #giveUp(): void {
    this.#hasGivenUp = true;
    for (const giveUp of this.#waiting) giveUp();
  }

  [Symbol.dispose](): void {
    this.#signal.removeEventListener("abort", this.#onAbort);
    clearTimeout(this.#timer);
  }
}
