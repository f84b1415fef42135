/**
 * The start of a thread, which nothing may cut short: where Node ends a thread that is loading native
 * code, now and then the whole process dies of it, or stops in the midst of a close: 5 of 120 that closed
 * or exited within 0.12 s of their first search did, and of 600 none since. So a thread is ended only
 * once it is up, and a process that exits waits for those that are not.
 */

/** How long an exit waits for a thread that may never be up: 1 s; a start takes 0.1 s. */
const PATIENCE_MS = 1000;

/** 1 when the thread is up: shared with it, as a process that exits receives no messages. */
export type Up = Int32Array<SharedArrayBuffer>;

export const newUp = (): Up => new Int32Array(new SharedArrayBuffer(4));

const starting = new Set<Up>();

const awaitAll = (): void => {
  for (const up of starting) Atomics.wait(up, 0, 0, PATIENCE_MS);
};

export class Start {
  /** Resolves when the thread is up, or has died. */
  readonly over: Promise<void>;
  readonly #up: Up;
  #resolve!: () => void;

  constructor(up: Up) {
    this.#up = up;
    this.over = new Promise((resolve) => (this.#resolve = resolve));
    if (starting.size === 0) process.on("exit", awaitAll);
    starting.add(up);
  }

  end(): void {
    this.#resolve();
    if (starting.delete(this.#up) && starting.size === 0) process.off("exit", awaitAll);
  }
}

/** By the thread itself. */
export function sayUp(up: Up): void {
  Atomics.store(up, 0, 1);
  Atomics.notify(up, 0);
}
