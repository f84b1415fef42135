/**
 * Repeats a task. The task runs every `everyMs` milliseconds, soon after a call of wake(), and immediately after a
 * call of run(). Two runs never overlap. All calls of run() during a run share the next run, because each caller
 * waits for a run that begins after its call.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { Alarm } from "./alarm.ts";

/**
 * The minimum pause between two repetitions, in milliseconds. Calls of wake() come in bursts, because each node
 * announces separately that it has a publication ready.
 */
const LEAST_MS = 50;

export interface Followed<T> {
  /** Runs the task. It is not called again until its promise settles. */
  readonly run: () => Promise<T>;
  readonly everyMs: number;
  /** Called when a run fails. Not called again while later runs fail with the same error. */
  readonly onTrouble: (error: unknown) => void;
}

export class Follower<T> {
  /** Starts a run soon. */
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

  /** Starts to repeat the task, until close() is called. REQUIRES: start() is called only once. */
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

  /** Stops repeating. Resolves when the current run has ended. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#loop;
    await this.#last;
  }
}
