/** Wakes whoever waits for it. A ring that nobody waited for ends the next wait at once, so none is missed. */

import { setTimeout as sleep } from "node:timers/promises";

export class Alarm {
  #hasRung = false;
  #waking: AbortController | undefined;

  readonly ring = (): void => {
    this.#hasRung = true;
    this.#waking?.abort();
  };

  /** Resolves at a ring, after `ms`, or when the signal aborts. One waits at a time. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    this.#waking = new AbortController();
    const ends = AbortSignal.any([signal, this.#waking.signal]);
    if (!this.#hasRung) await sleep(ms, undefined, { signal: ends, ref: false }).catch(() => {});
    this.#waking = undefined;
    this.#hasRung = false;
  }
}
