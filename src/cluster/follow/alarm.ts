/**
 * Lets one task end the wait of another task early. If the alarm rings while nobody is waiting, the next wait ends
 * immediately. So no ring is lost.
 */

import { JoinedSignal } from "../../base/joined-signal.ts";
import { setTimeout as sleep } from "node:timers/promises";

export class Alarm {
  #hasRung = false;
  #waking: AbortController | undefined;

  readonly ring = (): void => {
    this.#hasRung = true;
    this.#waking?.abort();
  };

  /**
   * Resolves when the alarm rings, after `ms` milliseconds, or when the signal aborts. REQUIRES: no other caller is
   * waiting.
   */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    this.#waking = new AbortController();
    using ends = new JoinedSignal([signal, this.#waking.signal]);
    const options = { signal: ends.signal, ref: false };
    if (!this.#hasRung) await sleep(ms, undefined, options).catch(() => {});
    this.#waking = undefined;
    this.#hasRung = false;
  }
}
