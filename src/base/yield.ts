/**
 * Yields to the event loop from long loops. Searches, index runs, inline tasks and answers over HTTP wait in one
 * queue, which lets one continue in each turn of the loop: two in the same turn would block it for two slices.
 * Loops that begin in one turn, one after another, share its slice for the same reason.
 */

import { throwIfAborted, type Stop } from "./abort.ts";

/** Milliseconds. Below the promised 5 ms, to leave room for the step that is running. */
export const SLICE_MS = 2;

class YieldQueue {
  readonly #waiting: (() => void)[] = [];

  wait(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(this.#admit);
    });
  }

  // an immediate is pending if and only if somebody waits
  readonly #admit = () => {
    const resume = this.#waiting.shift();
    if (this.#waiting.length > 0) setImmediate(this.#admit);
    turn.begin();
    resume?.();
  };
}

/**
 * Remembers when the slice of this turn of the event loop began. The next phase of immediates ends it,
 * whoever is admitted there.
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

/** The queue of this thread, because several engines share the event loop of their host. */
const queue = new YieldQueue();

/** Resolves in a turn of the event loop in which no other caller continues. First come, first served. */
export const yieldTurn = (): Promise<void> => queue.wait();

export interface SliceOptions {
  /** Milliseconds that a loop may run between yields; less for a loop with long rounds. Default: SLICE_MS. */
  readonly ms?: number;
  /** Ends the loop: rest() rejects with ABORTED. */
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

  /** Whether it is time to yield. Cheap enough for each round of a loop: about 40 ns. */
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

/** Called now and then in a long loop. Returns a promise to await if the slice is over, otherwise undefined. */
export type Pause = () => Promise<void> | undefined;

/** Creates the pause of one loop. */
export function newPause(options?: SliceOptions): Pause {
  const slice = new Slice(options);
  return () => (slice.isOver ? slice.rest() : undefined);
}
