/**
 * Prevents a thread from being terminated while it starts. If Node terminates a thread that is loading native code, the
 * process sometimes crashes or hangs. So a thread is terminated only after it has started, and an exiting process waits
 * for the threads that are starting. In a test, processes exited within 0.12 s of their first search. Without this
 * wait, 5 of 120 such processes crashed or hung. With the wait, none of 600 did.
 */

/** The maximum time that an exiting process waits for a starting thread, in milliseconds. A start takes 0.1 s. */
const EXIT_WAIT_MS = 1000;

/**
 * A flag that is 1 once the thread has started. The flag is in shared memory, because an exiting process receives no
 * messages.
 */
export type Up = Int32Array<SharedArrayBuffer>;

export const newUp = (): Up => new Int32Array(new SharedArrayBuffer(4));

const starting = new Set<Up>();

const awaitAll = (): void => {
  for (const up of starting) Atomics.wait(up, 0, 0, EXIT_WAIT_MS);
};

export class Start {
  /** Resolves when the thread has started or died. */
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

/** Reports that the thread has started. The thread itself calls this. */
export function sayUp(up: Up): void {
  Atomics.store(up, 0, 1);
  Atomics.notify(up, 0);
}
