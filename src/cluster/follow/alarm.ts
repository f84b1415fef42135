/** Ends a wait early. A ring while nobody waits makes the next wait end immediately, so that no ring is lost. */

import { setTimeout as sleep } from "node:timers/promises";

export class Alarm {
  #hasRung = false;
  #waking: AbortController | undefined;

  readonly ring = (): void => {
    this.#hasRung = true;
    this.#waking?.abort();
  };

  /** Resolves at a ring, after `ms`, or when the signal aborts. REQUIRES: no other caller waits. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    this.#waking = new AbortController();
    const ends = AbortSignal.any([signal, this.#waking.signal]);
    if (!this.#hasRung) await sleep(ms, undefined, { signal: ends, ref: false }).catch(() => {});
    this.#waking = undefined;
    this.#hasRung = false;
  }
}
