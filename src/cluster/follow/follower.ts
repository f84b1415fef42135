/**
 * Does the same again and again: each `everyMs`, sooner when it is woken, and at once when somebody waits for it.
 * Runs follow each other. Whoever asks for one while another is under way gets the next, together with all who ask
 * meanwhile, so what they wait for has begun after they asked.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { Alarm } from "./alarm.ts";

/** Wakes come in bursts: each node of a cluster says that it has a publication ready. */
const LEAST_MS = 50;

export interface Followed<T> {
  /** Never runs twice at a time. */
  readonly run: () => Promise<T>;
  readonly everyMs: number;
  /** Called when a run fails, and not again while runs fail for the same reason. */
  readonly onTrouble: (error: unknown) => void;
}

export class Follower<T> {
  /** Has it run soon. */
  readonly wake: () => void;
  readonly #followed: Followed<T>;
  readonly #alarm = new Alarm();
  readonly #closing = new AbortController();
  #last: Promise<unknown> = Promise.resolve();
  #waiting: Promise<T> | undefined;
  #loop: Promise<void> = Promise.resolve();

  constructor(followed: Followed<T>) {
    this.#followed = followed;
    this.wake = this.#alarm.ring;
  }

  /** Repeats until close(). REQUIRES: called once. */
  start(): void {
    this.#loop = this.#repeat();
  }

  /** Resolves to the result of a run that begins after the call. */
  run(): Promise<T> {
    this.#waiting ??= this.#last.then(() => {
      this.#waiting = undefined;
      const run = this.#followed.run();
      this.#last = run.catch(() => undefined);
      return run;
    });
    return this.#waiting;
  }

  async #repeat(): Promise<void> {
    const { everyMs, onTrouble } = this.#followed;
    const { signal } = this.#closing;
    let trouble = "";
    for (;;) {
      await sleep(Math.min(LEAST_MS, everyMs), undefined, { signal, ref: false }).catch(() => {});
      await this.#alarm.wait(everyMs, signal);
      if (signal.aborted) return;
      try {
        await this.run();
        trouble = "";
      } catch (error) {
        if (String(error) !== trouble && !signal.aborted) onTrouble(error);
        trouble = String(error);
      }
    }
  }

  /** Resolves when no run is under way, and none will begin by itself. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#loop;
    await this.#last;
  }
}
