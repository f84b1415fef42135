/**
 * Yields to the event loop from long loops. Searches, index runs, inline tasks and HTTP answers wait in one queue,
 * which lets one of them continue in each turn of the event loop. Two that continue in the same turn would block it for
 * two slices. For the same reason, loops that begin one after another in the same turn share its slice.
 */

import { throwIfAborted, type Stop } from "./abort.ts";

/** Milliseconds. Less than the promised 5 ms, to leave time for the step that is running. */
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
 * Remembers when the slice of this turn began. All callers of a turn share the slice. It ends when the event loop next
 * runs immediates.
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

/** The queue belongs to the thread, because several engines share their host's event loop. */
const queue = new YieldQueue();

/** Resolves in a turn of the event loop in which no other caller continues. First come, first served. */
export const yieldTurn = (): Promise<void> => queue.wait();

export interface SliceOptions {
  /** Milliseconds that a loop may run between yields. Shorter for a loop with long rounds. Default: SLICE_MS. */
  readonly ms?: number;
  /** If it is aborted, rest() rejects with ABORTED, which ends the loop. */
  readonly signal?: Stop;
}

/** The time that a loop, or all loops of one kind together, may run before yielding. */
export class Slice {
  readonly #ms: number;
  readonly #signal: Stop | undefined;
  #since = turn.since;

  constructor({ ms = SLICE_MS, signal }: SliceOptions = {}) {
    this.#ms = ms;
    this.#signal = signal;
  }

  /** Whether it is time to yield. Takes about 40 ns, so each round of a loop may ask. */
  get isOver(): boolean {
    return performance.now() - this.#since >= this.#ms;
  }

  /** Yields, then begins the next slice. */
  async rest(): Promise<void> {
    if (this.#signal) throwIfAborted(this.#signal);
    await yieldTurn();
    if (this.#signal) throwIfAborted(this.#signal);
    this.#since = turn.since;
  }
}

/**
 * A function that a long loop calls regularly. It returns a promise to await if the slice is over, otherwise undefined.
 */
export type Pause = () => Promise<void> | undefined;

/** Creates the pause of one loop. */
export function newPause(options?: SliceOptions): Pause {
  const slice = new Slice(options);
  return () => (slice.isOver ? slice.rest() : undefined);
}
