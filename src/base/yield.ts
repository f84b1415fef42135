/**
 * Lets long loops yield to the event loop. Searches, index runs, inline tasks and HTTP answers wait in one queue. In
 * each turn of the event loop, the queue lets one of them continue. If two continued in the same turn, they would block
 * the event loop for two slices. For the same reason, loops that begin in the same turn share one slice.
 */

import { throwIfAborted, type Stop } from "./abort.ts";

/**
 * The default length of a slice, in milliseconds. It is less than the 5 ms that quern promises, to leave time for the
 * step that is running when the slice ends.
 */
export const SLICE_MS = 2;

class YieldQueue {
  readonly #waiting: (() => void)[] = [];

  wait(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(this.#admit);
    });
  }

  // an immediate is pending if and only if a caller waits
  readonly #admit = () => {
    const resume = this.#waiting.shift();
    if (this.#waiting.length > 0) setImmediate(this.#admit);
    turn.begin();
    resume?.();
  };
}

/**
 * Remembers when the slice of the current turn began. All callers in a turn share its slice. The turn ends when the
 * event loop next runs immediates.
 */
class Turn {
  #since: number | undefined;
  #end: NodeJS.Immediate | undefined;

  begin(): number {
    clearImmediate(this.#end);
    this.#end = setImmediate(this.#over);
    return (this.#since = performance.now());
  }

  get since(): number {
    return this.#since ?? this.begin();
  }

  readonly #over = () => {
    this.#since = this.#end = undefined;
  };
}

const turn = new Turn();

/** The queue of this thread. There is one for all engines of the thread, because they share the host's event loop. */
const queue = new YieldQueue();

/**
 * Resolves in a turn of the event loop in which no other caller continues. Callers are served in the order of their
 * calls.
 */
export const yieldTurn = (): Promise<void> => queue.wait();

export interface SliceOptions {
  /**
   * The number of milliseconds that a loop may run between yields. A loop whose rounds take long needs a smaller
   * number. Default: SLICE_MS.
   */
  readonly ms?: number;
  /** If the signal is aborted, rest() rejects with ABORTED, which ends the loop. */
  readonly signal?: Stop;
}

/** The time that a loop may run before it yields. All loops of one kind may share a slice. */
export class Slice {
  readonly #ms: number;
  readonly #signal: Stop | undefined;
  #since = turn.since;

  constructor({ ms = SLICE_MS, signal }: SliceOptions = {}) {
    this.#ms = ms;
    this.#signal = signal;
  }

  /** Whether it is time to yield. A call takes about 40 ns, so a loop may check this in each round. */
  get isOver(): boolean {
    return performance.now() - this.#since >= this.#ms;
  }

  /** Yields, and then begins the next slice. */
  async rest(): Promise<void> {
    if (this.#signal) throwIfAborted(this.#signal);
    await yieldTurn();
    if (this.#signal) throwIfAborted(this.#signal);
    this.#since = turn.since;
  }
}

/**
 * A function that a long loop calls regularly. It returns a promise to await if the slice is over, and undefined
 * otherwise.
 */
export type Pause = () => Promise<void> | undefined;

/** Creates the pause for one loop. */
export function newPause(options?: SliceOptions): Pause {
  const slice = new Slice(options);
  return () => (slice.isOver ? slice.rest() : undefined);
}
