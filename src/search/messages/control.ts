/**
 * Coordinates the threads of one search through shared memory. No thread assigns work to other threads. Instead, each
 * thread claims a segment that no thread has begun yet, and plans it. If the segment has much text to scan, the
 * thread opens it to other threads. When no segment is left to begin, the other threads claim steps of open segments.
 * Each step is a window to scan.
 */

import type { CheckedRequest, SearchOptions } from "./request.ts";

/**
 * The number of timestamps (f64) at the start of the memory. The first is the time when scanning must stop. The
 * second is the time when the answer is due, which the time-out determines. Threads compare both with the clock,
 * because a timer cannot fire on a thread that is scanning.
 */
const TIMES = 2;
/**
 * The constants from here on are indexes of words (i32). The word STOP is the reason why scanning must stop, as a
 * value of STOPPED.
 */
const STOP = 2 * TIMES;
/** 1 once nobody waits for the answer any more, 0 before. */
const ENDED = STOP + 1;
/** The number of ranges that a stream may still deliver. */
const LEFT = STOP + 2;
/** The size of those parts of a stream that its reader has not taken yet, in bytes. */
const BEHIND = STOP + 3;
/** The number of parts of a stream that were sent, but that the calling thread has not received yet. */
const UNDER_WAY = STOP + 4;
/** The size that the answer may still take, in units of ROOM_BYTES, or ENDLESS if there is no limit. */
const ROOM = STOP + 5;
/** The number of ranges that the finished threads have found. */
const FOUND = STOP + 6;
/** The index of the first segment's words. Each segment has SEGMENT_WORDS words. */
const SEGMENTS = STOP + 7;
const SEGMENT_WORDS = 6;
/**
 * The words of a segment. STATE is its state. STEPS is the number of its steps, and CLAIMED the number of those that
 * were claimed. FIRST is the number of steps that were claimed from the beginning, and LAST is the number of steps that
 * were claimed from the end. KIND says what the steps are.
 */
const [STATE, STEPS, CLAIMED, FIRST, LAST, KIND] = [0, 1, 2, 3, 4, 5];
/** The states of a segment. */
const [WAITING, PLANNING, OPEN, CLOSED] = [0, 1, 2, 3];

const ENDLESS = 2 ** 31 - 1;
/**
 * The maximum number of bytes that a range takes in an answer in addition to the file's text. This includes two long
 * names of definitions.
 */
const BYTES_A_RANGE = 1024;
/** The unit of ROOM, in bytes. In such units, a word can count 128 GiB. */
const ROOM_BYTES = 64;
/**
 * The maximum number of milliseconds to wait for another thread's plan. Planning takes far less, but the other thread
 * may have died.
 */
const PLAN_WAIT_MS = 250;
/** The share of the time-out that is reserved for showing files, and the maximum of the reserved time. */
const SHOWING_SHARE = 0.2;
const MOST_SHOWING_MS = 200;

/**
 * The maximum number of bytes of a stream that may wait for its reader. If more bytes wait, the reader is behind. A
 * reader that is fast enough never has so many bytes waiting.
 */
const MOST_BEHIND = 4 * 2 ** 20;

/**
 * The maximum number of parts of a stream that may be on their way to the calling thread. The event loop of that
 * thread receives all waiting messages in one turn, and each message takes about 0.3 ms.
 */
const MOST_UNDER_WAY = 2;

export const STOPPED = { NO: 0, ABORTED: 1, TIMED_OUT: 2 } as const;

export class Control {
  readonly shared: SharedArrayBuffer;
  readonly #times: Float64Array;
  readonly #words: Int32Array;

  constructor(shared: SharedArrayBuffer) {
    this.shared = shared;
    this.#times = new Float64Array(shared, 0, TIMES);
    this.#words = new Int32Array(shared);
  }

  /** Creates the control of a search. `timeoutMs` counts from now on. */
  static create(
    segments: number,
    { matches }: Pick<CheckedRequest, "matches">,
    { timeoutMs = Infinity, maxBytes = Infinity }: Pick<SearchOptions, "timeoutMs" | "maxBytes">,
  ): Control {
    const words = SEGMENTS + SEGMENT_WORDS * segments;
    const control = new Control(new SharedArrayBuffer(8 * Math.ceil(words / 2)));
    const due = now() + timeoutMs;
    const kept = Math.min(SHOWING_SHARE * timeoutMs, MOST_SHOWING_MS);
    control.#times.set([due - kept, due]);
    control.#words[LEFT] = Math.min(matches, 2 ** 31 - 1);
    control.#words[ROOM] = Math.min(unitsOf(maxBytes), ENDLESS);
    return control;
  }

  /** Stops the search. If stop() is called again, the first reason is kept. */
  stop(reason: number): void {
    if (reason === STOPPED.ABORTED) Atomics.store(this.#words, ENDED, 1);
    Atomics.compareExchange(this.#words, STOP, STOPPED.NO, reason);
  }

  get stopped(): number {
    if (now() > this.#times[0]!) this.stop(STOPPED.TIMED_OUT);
    return Atomics.load(this.#words, STOP);
  }

  /** Whether threads must stop showing files as well, because the search was aborted or the time-out has passed. */
  get hasEnded(): boolean {
    return Atomics.load(this.#words, ENDED) !== 0 || now() > this.#times[1]!;
  }

  /**
   * Resets the search to the state before anything was claimed or found. REQUIRES: no thread is working on the
   * search.
   */
  restart(): void {
    this.#words[FOUND] = 0;
    this.#words.fill(0, SEGMENTS);
  }

  /**
   * Claims a segment. Returns false if another thread has claimed it. REQUIRES: after a successful claim, the caller
   * calls open() or close().
   */
  claimSegment(segment: number): boolean {
    const at = SEGMENTS + SEGMENT_WORDS * segment + STATE;
    return Atomics.compareExchange(this.#words, at, WAITING, PLANNING) === WAITING;
  }

  /**
   * Opens a segment of `steps` steps, so that other threads may claim some of them. `kind` is a number that says what the
   * steps are. A thread may claim steps only if it divides the segment in the same way.
   */
  open(segment: number, steps: number, kind = 0): void {
    this.#words[SEGMENTS + SEGMENT_WORDS * segment + STEPS] = steps;
    this.#words[SEGMENTS + SEGMENT_WORDS * segment + KIND] = kind;
    this.#settle(segment, OPEN);
  }

  /** Closes a segment in which nothing is left to claim. */
  close(segment: number): void {
    this.#settle(segment, CLOSED);
  }

  #settle(segment: number, state: number): void {
    const at = SEGMENTS + SEGMENT_WORDS * segment + STATE;
    Atomics.store(this.#words, at, state);
    Atomics.notify(this.#words, at);
  }

  /**
   * Returns how many steps of a segment are left to claim, or 0 if the segment is not open. If another thread is
   * planning the segment, waits for the plan, but at most PLAN_WAIT_MS. REQUIRES: the caller is a worker thread.
   */
  stepsLeft(segment: number): number {
    const at = SEGMENTS + SEGMENT_WORDS * segment;
    Atomics.wait(this.#words, at + STATE, PLANNING, PLAN_WAIT_MS);
    if (Atomics.load(this.#words, at + STATE) !== OPEN) return 0;
    return Math.max(0, this.#words[at + STEPS]! - Atomics.load(this.#words, at + CLAIMED));
  }

  /** Returns what the steps of an open segment are. */
  kindOf(segment: number): number {
    return this.#words[SEGMENTS + SEGMENT_WORDS * segment + KIND]!;
  }

  /**
   * Claims one of the steps of an open segment. Returns the number of the step, or undefined if all steps have been
   * claimed. The owner is the thread that has planned the segment. It claims steps from the beginning, and
   * the other threads claim steps from the end. So in every search, a thread gets about the same steps, and need not
   * verify their text again.
   */
  claimStep(segment: number, isOwner: boolean): number | undefined {
    const at = SEGMENTS + SEGMENT_WORDS * segment;
    const steps = this.#words[at + STEPS]!;
    if (Atomics.add(this.#words, at + CLAIMED, 1) < steps)
      return isOwner
        ? Atomics.add(this.#words, at + FIRST, 1)
        : steps - 1 - Atomics.add(this.#words, at + LAST, 1);
    this.close(segment);
    return undefined;
  }

  /**
   * Adds the number of ranges that a thread has found when it finishes. Returns the sum so far, at most 2 ** 31 - 1.
   */
  addFound(ranges: number): number {
    for (;;) {
      const found = Atomics.load(this.#words, FOUND);
      const sum = Math.min(found + ranges, ENDLESS);
      if (Atomics.compareExchange(this.#words, FOUND, found, sum) === found) return sum;
    }
  }

  /**
   * Takes up to `wanted` of the ranges that a stream may still deliver. Returns the number of ranges that it has
   * taken.
   */
  takeRanges(wanted: number): number {
    for (;;) {
      const left = Atomics.load(this.#words, LEFT);
      const taken = Math.min(left, wanted);
      if (taken <= 0) return 0;
      if (Atomics.compareExchange(this.#words, LEFT, left, left - taken) === left) return taken;
    }
  }

  /** Charges this many bytes to the answer, even if fewer are left. */
  takeRoom(bytes: number): void {
    if (Atomics.load(this.#words, ROOM) !== ENDLESS) Atomics.sub(this.#words, ROOM, unitsOf(bytes));
  }

  /** Whether the answer is full. */
  get isFull(): boolean {
    return Atomics.load(this.#words, ROOM) <= 0;
  }

  /**
   * Returns how many of the `wanted` ranges of the next file may be shown. If the result is less than `wanted`, the
   * answer is full after these ranges.
   */
  rangesWithRoom(wanted: number): number {
    const most = Math.max(1, Math.ceil(this.room / BYTES_A_RANGE));
    if (wanted <= most) return wanted;
    Atomics.store(this.#words, ROOM, 0);
    return most;
  }

  /**
   * The number of bytes that the answer may still take. If another search continues the answer, it begins with this
   * number.
   */
  get room(): number {
    const left = Atomics.load(this.#words, ROOM);
    return left === ENDLESS ? Infinity : ROOM_BYTES * Math.max(0, left);
  }

  /** The time until the answer is due, in milliseconds. Negative if that time has passed. */
  get leftMs(): number {
    return this.#times[1]! - now();
  }

  /**
   * Adds the size of a part that was sent to the stream's reader. A negative number subtracts the size of a part that
   * the reader has taken.
   */
  addBehind(bytes: number): void {
    Atomics.add(this.#words, BEHIND, bytes);
  }

  /**
   * Counts a part of a stream that is about to be sent. If too many parts are on their way, first waits until the
   * calling thread has received one of them, but at most PLAN_WAIT_MS. This does not wait for the stream's reader. The
   * calling thread receives a part in one turn of its event loop, even if the reader is slow.
   */
  beginPart(): void {
    const since = now();
    for (;;) {
      const left = PLAN_WAIT_MS - (now() - since);
      const underWay = Atomics.load(this.#words, UNDER_WAY);
      if (underWay < MOST_UNDER_WAY || left <= 0 || this.hasEnded) break;
      Atomics.wait(this.#words, UNDER_WAY, underWay, left);
    }
    Atomics.add(this.#words, UNDER_WAY, 1);
  }

  /** Stops counting a part as on its way, because the calling thread has received it. */
  endPart(): void {
    Atomics.sub(this.#words, UNDER_WAY, 1);
    Atomics.notify(this.#words, UNDER_WAY);
  }

  /** Whether a stream's reader is behind. */
  get isBehind(): boolean {
    return Atomics.load(this.#words, BEHIND) > MOST_BEHIND;
  }
}

const unitsOf = (bytes: number): number => Math.ceil(bytes / ROOM_BYTES);

/** Returns the time in milliseconds, by a clock that all threads share. */
const now = (): number => timeOrigin + performance.now();
const { timeOrigin } = performance; // read only once, because this getter takes 50 ns
