/**
 * What the threads of one search share: words that all of them see at once. Work is claimed, not
 * assigned. A thread takes the next segment that nobody has begun and plans it; if there is much to
 * scan it opens the segment, and threads that find nothing more to begin help with its windows.
 */

import type { CheckedRequest, SearchOptions } from "./request.ts";

/**
 * Two times (f64): when looking for matches ends, and when the answer is due, which is the time-out. Each
 * thread reads them by itself, as no timer runs on a thread that scans.
 */
const TIMES = 2;
const STOP = 2 * TIMES;
/** 1 when nobody wants an answer any more. */
const ENDED = STOP + 1;
const NEXT_SEGMENT = STOP + 2;
/** Ranges that a stream may still deliver. */
const LEFT = STOP + 3;
/** Bytes of a stream's parts that its reader has not taken. */
const BEHIND = STOP + 4;
/** Parts of a stream that are on their way to the caller's thread. */
const UNDER_WAY = STOP + 5;
/** Units of ROOM_BYTES that the answer may still hold; ENDLESS where nobody has set a limit. */
const ROOM = STOP + 6;
/** From here a word a segment: PLANNING, the next step to claim, or CLOSED and more. */
const STEPS = STOP + 7;

const PLANNING = -1;
const CLOSED = 2 ** 30;
const ENDLESS = 2 ** 31 - 1;
/** Of an answer, what a range takes at most beside the file's text: with two long names of definitions. */
const BYTES_A_RANGE = 1024;
/** So that a word can count 128 GiB. */
const ROOM_BYTES = 64;
/** Milliseconds to wait for a plan: far longer than any takes, should its thread have died. */
const PATIENCE_MS = 250;
/** What was found is found again, to be shown: of the time-out this share is kept for it, so much at most. */
const SHOWING_SHARE = 0.2;
const MOST_SHOWING_MS = 200;
/** How long after the time-out that may still go on. */
const LATE_MS = 50;

/** More than a reader that keeps up ever has before it; each thread may add one file. */
const MOST_BEHIND = 4 * 2 ** 20;

/** The event loop receives all messages that are there in one turn: a part takes it some 0.3 ms. */
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

  /** `timeoutMs` counts from now on. */
  static create(
    segments: number,
    { matches }: Pick<CheckedRequest, "matches">,
    { timeoutMs = Infinity, maxBytes = Infinity }: Pick<SearchOptions, "timeoutMs" | "maxBytes">,
  ): Control {
    const control = new Control(new SharedArrayBuffer(8 * Math.ceil((STEPS + segments) / 2)));
    const due = now() + timeoutMs;
    const kept = Math.min(SHOWING_SHARE * timeoutMs, MOST_SHOWING_MS);
    control.#times.set([due - kept, due]);
    control.#words[LEFT] = Math.min(matches, 2 ** 31 - 1);
    control.#words[ROOM] = Math.min(unitsOf(maxBytes), ENDLESS);
    control.#words.fill(PLANNING, STEPS);
    return control;
  }

  /** The first reason stays. */
  stop(reason: number): void {
    if (reason === STOPPED.ABORTED) Atomics.store(this.#words, ENDED, 1);
    Atomics.compareExchange(this.#words, STOP, STOPPED.NO, reason);
  }

  get stopped(): number {
    if (now() > this.#times[0]!) this.stop(STOPPED.TIMED_OUT);
    return Atomics.load(this.#words, STOP);
  }

  /** Whether what was found should not even be shown any more: aborted, or after the time-out. */
  get hasEnded(): boolean {
    return this.#isDue(LATE_MS);
  }

  /** Whether nothing should be asked of what is to be shown that can be left out. */
  get isDue(): boolean {
    return this.#isDue(0);
  }

  #isDue(lateMs: number): boolean {
    return Atomics.load(this.#words, ENDED) !== 0 || now() > this.#times[1]! + lateMs;
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

  /** What is shown takes so much of the answer's room, be there as much or not. */
  takeRoom(bytes: number): void {
    if (Atomics.load(this.#words, ROOM) !== ENDLESS) Atomics.sub(this.#words, ROOM, unitsOf(bytes));
  }

  /** Whether the answer holds all that it may. */
  get isFull(): boolean {
    return Atomics.load(this.#words, ROOM) <= 0;
  }

  /** How many of its ranges the next file may show; fewer than it has fill the answer. */
  rangesWithRoom(wanted: number): number {
    const most = Math.max(1, Math.ceil(this.room / BYTES_A_RANGE));
    if (wanted <= most) return wanted;
    Atomics.store(this.#words, ROOM, 0);
    return most;
  }

  /** Bytes that the answer may still hold: for another search that goes on with it. */
  get room(): number {
    const left = Atomics.load(this.#words, ROOM);
    return left === ENDLESS ? Infinity : ROOM_BYTES * Math.max(0, left);
  }

  /** Milliseconds until the answer is due; less than 0 afterwards. */
  get leftMs(): number {
    return this.#times[1]! - now();
  }

  /** A stream's part was posted, or (less than 0) taken. */
  addBehind(bytes: number): void {
    Atomics.add(this.#words, BEHIND, bytes);
  }

  /**
   * Before a stream's part is posted: waits until the caller's thread has received some of those
   * before it, which takes one turn of its event loop, whatever the reader does; PATIENCE_MS at most.
   */
  beginPart(): void {
    const since = now();
    for (;;) {
      const left = PATIENCE_MS - (now() - since);
      const underWay = Atomics.load(this.#words, UNDER_WAY);
      if (underWay < MOST_UNDER_WAY || left <= 0 || this.hasEnded) break;
      Atomics.wait(this.#words, UNDER_WAY, underWay, left);
    }
    Atomics.add(this.#words, UNDER_WAY, 1);
  }

  /** The caller's thread has received a part. */
  endPart(): void {
    Atomics.sub(this.#words, UNDER_WAY, 1);
    Atomics.notify(this.#words, UNDER_WAY);
  }

  /** Whether a stream's reader has enough before it. */
  get isBehind(): boolean {
    return Atomics.load(this.#words, BEHIND) > MOST_BEHIND;
  }
}

const unitsOf = (bytes: number): number => Math.ceil(bytes / ROOM_BYTES);

/** The clock of all threads, in milliseconds. */
const now = (): number => timeOrigin + performance.now();
const { timeOrigin } = performance; // a getter of 50 ns
