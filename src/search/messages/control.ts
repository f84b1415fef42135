/**
 * Coordinates the threads of one search through shared memory. Threads claim work themselves. A thread claims a
 * segment that none has begun, and plans it. If much has to be scanned, the thread opens the segment. Threads that find
 * no more segments to begin then help with its windows.
 */

import type { CheckedRequest, SearchOptions } from "./request.ts";

/**
 * Two times (f64): when scanning must stop, and when the answer is due (the time-out). Threads compare both with the
 * clock, because a timer cannot fire on a thread that is scanning.
 */
const TIMES = 2;
/** The indexes of the other words (i32). This word is the reason why scanning must stop, one of STOPPED. */
const STOP = 2 * TIMES;
/** 1 once nobody waits for an answer. */
const ENDED = STOP + 1;
/** Ranges that a stream may still deliver. */
const LEFT = STOP + 2;
/** Bytes of a stream's parts that its reader has not taken yet. */
const BEHIND = STOP + 3;
/** Parts of a stream that were sent but not yet received by the calling thread. */
const UNDER_WAY = STOP + 4;
/** How many units of ROOM_BYTES the answer may still take, or ENDLESS if there is no limit. */
const ROOM = STOP + 5;
/** Ranges found by the threads that have finished. */
const FOUND = STOP + 6;
/** The index of the first segment's words. Each segment has the words below. */
const SEGMENTS = STOP + 7;
const SEGMENT_WORDS = 4;
/** The words of a segment: its state, and how many steps were claimed in all, from the first on, from the last back. */
const [STATE, CLAIMED, FIRST, LAST] = [0, 1, 2, 3];
/** The states of a segment. */
const [WAITING, PLANNING, OPEN, CLOSED] = [0, 1, 2, 3];

const ENDLESS = 2 ** 31 - 1;
/**
 * The maximum number of bytes that a range takes in an answer in addition to the file's text. It includes two long
 * names of definitions.
 */
const BYTES_A_RANGE = 1024;
/** The unit of ROOM. With it, a word can count 128 GiB. */
const ROOM_BYTES = 64;
/**
 * The maximum number of milliseconds to wait for another thread's plan. Plans take far less, but that thread may have
 * died.
 */
const PLAN_WAIT_MS = 250;
/** The share of the time-out that is reserved for showing files, and its maximum. */
const SHOWING_SHARE = 0.2;
const MOST_SHOWING_MS = 200;

/**
 * The maximum number of bytes that may wait for a stream's reader before it counts as behind. A reader that keeps up
 * never has as many waiting.
 */
const MOST_BEHIND = 4 * 2 ** 20;

/**
 * The maximum number of parts that may be on their way to the calling thread. Its event loop receives all waiting
 * messages in one turn, in about 0.3 ms each.
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

  /** Stops the search. If called again, the first reason is kept. */
  stop(reason: number): void {
    if (reason === STOPPED.ABORTED) Atomics.store(this.#words, ENDED, 1);
    Atomics.compareExchange(this.#words, STOP, STOPPED.NO, reason);
  }

  get stopped(): number {
    if (now() > this.#times[0]!) this.stop(STOPPED.TIMED_OUT);
    return Atomics.load(this.#words, STOP);
  }

  /** Whether even showing files must stop, because the search was aborted or the time-out has passed. */
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

  /** Claims a segment. Returns false if another thread has claimed it. REQUIRES: the caller then opens or closes it. */
  claimSegment(segment: number): boolean {
    const at = SEGMENTS + SEGMENT_WORDS * segment + STATE;
    return Atomics.compareExchange(this.#words, at, WAITING, PLANNING) === WAITING;
  }

  /** Opens a segment, so that other threads may help. */
  open(segment: number): void {
    this.#settle(segment, OPEN);
  }

  /** Closes a segment, because nothing is left to claim. */
  close(segment: number): void {
    this.#settle(segment, CLOSED);
  }

  #settle(segment: number, state: number): void {
    const at = SEGMENTS + SEGMENT_WORDS * segment + STATE;
    Atomics.store(this.#words, at, state);
    Atomics.notify(this.#words, at);
  }

  /** Waits for a segment's plan, then returns whether the segment is open. REQUIRES: the caller is a worker thread. */
  isOpen(segment: number): boolean {
    const at = SEGMENTS + SEGMENT_WORDS * segment + STATE;
    Atomics.wait(this.#words, at, PLANNING, PLAN_WAIT_MS);
    return Atomics.load(this.#words, at) === OPEN;
  }

  /**
   * Claims one of `steps` steps of an open segment. Returns undefined if all are claimed. The owner of the segment
   * claims steps from the first one on; other threads, from the last one back. So in every search, each thread has
   * about the same steps, whose text it may have cached.
   */
  claimStep(segment: number, steps: number, isOwner: boolean): number | undefined {
    const at = SEGMENTS + SEGMENT_WORDS * segment;
    if (Atomics.add(this.#words, at + CLAIMED, 1) < steps)
      return isOwner
        ? Atomics.add(this.#words, at + FIRST, 1)
        : steps - 1 - Atomics.add(this.#words, at + LAST, 1);
    this.close(segment);
    return undefined;
  }

  /** Adds the ranges that a finished thread has found. Returns the sum so far, at most 2 ** 31 - 1. */
  addFound(ranges: number): number {
    for (;;) {
      const found = Atomics.load(this.#words, FOUND);
      const sum = Math.min(found + ranges, ENDLESS);
      if (Atomics.compareExchange(this.#words, FOUND, found, sum) === found) return sum;
    }
  }

  /** Takes up to `wanted` of the remaining ranges, and returns how many. */
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
   * Returns how many of the `wanted` ranges of the next file may be shown. If this is less than the file has, these
   * ranges fill the answer.
   */
  rangesWithRoom(wanted: number): number {
    const most = Math.max(1, Math.ceil(this.room / BYTES_A_RANGE));
    if (wanted <= most) return wanted;
    Atomics.store(this.#words, ROOM, 0);
    return most;
  }

  /** How many bytes the answer may still take, for another search that continues the answer. */
  get room(): number {
    const left = Atomics.load(this.#words, ROOM);
    return left === ENDLESS ? Infinity : ROOM_BYTES * Math.max(0, left);
  }

  /** Milliseconds until the answer is due; negative afterwards. */
  get leftMs(): number {
    return this.#times[1]! - now();
  }

  /** Adds the bytes of a stream's part that was sent, or subtracts those of a part that the reader took. */
  addBehind(bytes: number): void {
    Atomics.add(this.#words, BEHIND, bytes);
  }

  /**
   * Called before a stream's part is sent. Waits, for at most PLAN_WAIT_MS, until the calling thread has received some
   * of the earlier parts. The calling thread receives a part in one turn of its event loop, even if the stream's reader
   * is slow.
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

  /** Called when the calling thread has received a part. */
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
const { timeOrigin } = performance; // a getter that takes 50 ns
