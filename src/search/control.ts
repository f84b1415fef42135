/**
 * What the threads of one search share: words that all of them see at once. Work is claimed, not
 * assigned. A thread takes the next segment that nobody has begun and plans it; if there is much to
 * scan it opens the segment, and threads that find nothing more to begin help with its windows.
 */

const STOP = 0;
const NEXT_SEGMENT = 1;
/** Ranges that a stream may still deliver. */
const LEFT = 2;
/** From here a word a segment: PLANNING, the next step to claim, or CLOSED and more. */
const STEPS = 3;

const PLANNING = -1;
const CLOSED = 2 ** 30;
/** Milliseconds to wait for a plan: far longer than any takes, should its thread have died. */
const PATIENCE_MS = 250;

export const STOPPED = { NO: 0, ABORTED: 1, TIMED_OUT: 2 } as const;

export class Control {
  readonly shared: SharedArrayBuffer;
  readonly #words: Int32Array;

  constructor(shared: SharedArrayBuffer) {
    this.shared = shared;
    this.#words = new Int32Array(shared);
  }

  static create(segments: number, matches: number): Control {
    const control = new Control(new SharedArrayBuffer(4 * (STEPS + segments)));
    control.#words[LEFT] = Math.min(matches, 2 ** 31 - 1);
    control.#words.fill(PLANNING, STEPS);
    return control;
  }

  /** The first reason stays. */
  stop(reason: number): void {
    Atomics.compareExchange(this.#words, STOP, STOPPED.NO, reason);
  }

  get stopped(): number {
    return Atomics.load(this.#words, STOP);
  }

  /** Position of a segment that nobody has begun; past the last one when all are. Its claimer must open or close it. */
  claimSegment(): number {
    return Atomics.add(this.#words, NEXT_SEGMENT, 1);
  }

  /** Others may help. */
  open(segment: number): void {
    this.#settle(segment, 0);
  }

  /** Nothing is left to claim. */
  close(segment: number): void {
    this.#settle(segment, CLOSED);
  }

  #settle(segment: number, state: number): void {
    Atomics.store(this.#words, STEPS + segment, state);
    Atomics.notify(this.#words, STEPS + segment);
  }

  /** Whether there is something to help with, once the segment's claimer has planned it. REQUIRES: a worker thread. */
  isOpen(segment: number): boolean {
    Atomics.wait(this.#words, STEPS + segment, PLANNING, PATIENCE_MS);
    const state = Atomics.load(this.#words, STEPS + segment);
    return state >= 0 && state < CLOSED;
  }

  /** The next of `steps` steps of an open segment; undefined when all are taken. */
  claimStep(segment: number, steps: number): number | undefined {
    const step = Atomics.add(this.#words, STEPS + segment, 1);
    if (step < steps) return step;
    this.close(segment);
    return undefined;
  }

  /** Takes up to `wanted` of the ranges that are left and returns how many. */
  takeRanges(wanted: number): number {
    for (;;) {
      const left = Atomics.load(this.#words, LEFT);
      const taken = Math.min(left, wanted);
      if (taken <= 0) return 0;
      if (Atomics.compareExchange(this.#words, LEFT, left, left - taken) === left) return taken;
    }
  }
}
