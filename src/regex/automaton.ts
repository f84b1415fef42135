/**
 * Runs the automaton of one expression in one kernel. The kernel has the loop that reads the text, and this class
 * builds the states that the loop needs. When the tables are full, all states except the current one are dropped.
 * TwoPass takes over if a text constantly needs new states, or if the automaton repeatedly reads far beyond its
 * matches.
 */

import type { Kernel } from "../kernel/kernel.ts";
import type { Node } from "./ast.ts";
import { byteClasses, type ByteClasses } from "./byte-classes.ts";
import { eachMatch } from "./iterate.ts";
import { DEAD, LazyAutomaton } from "./lazy-automaton.ts";
import { needleOf, type Needle } from "./needle.ts";
import { compileProgram, type Program } from "./program.ts";
import { pushRange, reserveRanges, type RangeList } from "./range-list.ts";
import type { Span } from "./iterate.ts";
import type { Steps } from "../base/steps.ts";
import { occursSteps } from "./occurs.ts";
import * as run from "./run.ts";
import type { Budget, Limits } from "./limits.ts";
import { TwoPass } from "./two-pass.ts";

/** The number of bytes that the automaton reads between two checks of the limits. */
const FUEL = 65_536;
/** The maximum number of ranges that are found between two checks of the limits. Finding a range takes 0.3 µs. */
const RANGES_A_LOOK = 8_192;
/**
 * Used instead of FUEL if the expression matches empty texts. In this case, each match takes a separate call of the
 * kernel, which takes up to 0.3 µs.
 */
const SINGLES_FUEL = 8_192;
/**
 * The automaton gives up if its tables fill up FILLS_ALLOWED times in a row, each time after it has read fewer than
 * BYTES_PER_STATE bytes per state.
 */
const BYTES_PER_STATE = 16;
const FILLS_ALLOWED = 2;

/**
 * The automaton may read OVERRUN bytes beyond its matches, plus OVERRUN_RATIO bytes for each byte of the text up to the
 * end of the last match. If it reads more, TwoPass takes over. For each byte, TwoPass takes about fifteen times as long
 * as the automaton.
 */
const OVERRUN = 128 * 1024;
const OVERRUN_RATIO = 16;

/**
 * The number of nodes that are visited between two checks of the budget. Visiting them takes about two milliseconds.
 */
const WORK = 100_000;
/** The maximum number of nodes in all states of one direction. This many nodes take about ten MiB. */
const HELD = 1_000_000;

const COUNTING = 0;
const RANGES = 1;
const SINGLE = 2;

const DONE = 1;
const NEED_STEP = 2;
const NEED_START = 3;
const PAUSE = 4;
const FULL = 5;
const FOUND = 6;

/** A run that finds one match per call. */
interface Singles {
  readonly from: number;
  readonly to: number;
  /** The position at which the search for the next match begins. */
  at: number;
  /** The end of the last match. */
  lastEnd: number;
  /** Whether the run was paused while it searched for the next match. */
  isMidway: boolean;
}

/** The rest of a text, in which TwoPass finds the matches. */
interface Rest {
  readonly twoPass: TwoPass;
  readonly to: number;
  /** The position at which the search for the next match begins. */
  at: number;
  /** The end of the last match. */
  lastEnd: number;
}

/** The parts of an automaton. */
export interface Compiled {
  readonly forward: Program;
  readonly backward: Program;
  readonly classes: ByteClasses;
  readonly needle: Needle | undefined;
}

/** Compiles an expression in steps, because compiling a large expression takes about ten milliseconds. */
export function* automatonSteps(node: Node): Steps<Compiled> {
  const forward = compileProgram(node, { backwards: false, searches: true });
  yield;
  const backward = compileProgram(node, { backwards: true, searches: false });
  yield;
  return { forward, backward, classes: byteClasses([forward, backward]), needle: needleOf(node) };
}

export class Automaton {
  readonly #kernel: Kernel;
  readonly #program: Program;
  readonly #classes: ByteClasses;
  readonly #needle: Needle | undefined;
  readonly #forward: LazyAutomaton;
  readonly #backward: LazyAutomaton;
  readonly #capacity: run.Capacity;
  readonly #matchesEmpty: boolean;
  #place!: run.Place;
  #fuel = FUEL; // the fuel that the current run gets at each check of the limits
  #bytesRun = 0; // the bytes read since the tables were emptied
  #fills = 0; // how many times in a row the tables filled up after too few bytes
  #twoPass: TwoPass | undefined;
  #isWasteful = false; // whether the last run stopped because TwoPass must search the rest of the text
  #rest: Rest | undefined; // the rest of the text, once TwoPass has begun to search it
  #singles: Singles | undefined; // the current run, if it finds one match per call
  #origin = 0; // the address to which the current run's ranges are relative
  stopped = false;
  /** Whether the last run was paused, so that resume() can continue it. */
  paused = false;

  constructor(
    kernel: Kernel,
    { forward, backward, classes, needle }: Compiled,
    matchesEmpty: boolean,
  ) {
    this.#kernel = kernel;
    this.#program = forward;
    this.#classes = classes;
    this.#needle = needle;
    this.#forward = new LazyAutomaton(forward, classes, false);
    this.#backward = new LazyAutomaton(backward, classes, true);
    this.#capacity = run.capacity(classes.count);
    this.#matchesEmpty = matchesEmpty;
  }

  /** Whether the tables fill up again and again. */
  get isThrashing(): boolean {
    return this.#fills >= FILLS_ALLOWED;
  }

  count(from: number, to: number, budget?: Budget): number {
    if (this.#matchesEmpty)
      return this.#runSingles(this.#beginSingles(from, to), undefined, { budget });
    this.#begin(from, to, COUNTING);
    this.#run({ budget });
    let count = this.#get(run.COUNT);
    if (this.#isWasteful) this.#passTwice({ budget }, () => count++);
    return count;
  }

  /** Finds in steps whether a short text has a match. */
  occursSteps(text: Uint8Array): Steps<boolean> {
    return occursSteps(this.#program, this.#classes, text);
  }

  /** Appends the ranges of all matches in a text to `out`, relative to `from`. Returns the number of these ranges. */
  ranges(from: number, to: number, out: RangeList, limits: Limits = {}): number {
    if (this.#matchesEmpty) return this.#runSingles(this.#beginSingles(from, to), out, limits);
    this.#begin(from, to, RANGES);
    this.#origin = from;
    return this.#collect(out, limits);
  }

  /**
   * Appends the ranges of all matches in `count` texts to `out`, as addresses. `texts` is the address of a table with
   * the pair (start, end) of each text. REQUIRES: the expression matches no empty text.
   */
  rangesOfTexts(texts: number, count: number, out: RangeList, limits: Limits = {}): number {
    this.#begin(texts, texts, RANGES); // no text yet: the kernel takes each text when the previous one is done
    this.#set(run.STRETCH, texts);
    this.#set(run.STRETCH_END, texts + 8 * count);
    this.#origin = 0;
    return this.#collect(out, limits);
  }

  /**
   * Continues a run of ranges() or rangesOfTexts() that was paused. REQUIRES: `out` is that run's list, and its text
   * has not moved.
   */
  resume(out: RangeList, limits: Limits): number {
    if (run.takePlace(this.#kernel, this).isNew)
      throw new Error("the automaton has lost its place");
    this.paused = false;
    return this.#singles
      ? this.#runSingles(this.#singles, out, limits)
      : this.#collect(out, limits);
  }

  #collect(out: RangeList, { budget, isSliceOver }: Limits): number {
    const [before, origin] = [out.length, this.#origin];
    const drain = () => this.#drain(origin, out);
    const asking = { budget: budget && (() => (drain(), budget())), isSliceOver };
    const push = (match: Span) => pushRange(out, match.start - origin, match.end - origin);
    if (this.#rest) this.#passTwice(asking, push);
    let looked = before;
    for (let answer = PAUSE; answer !== DONE && !this.#hasEnded;) {
      answer = this.#run(asking);
      drain();
      if (answer === FULL && out.length - looked >= RANGES_A_LOOK) {
        looked = out.length;
        this.#mustStop(asking);
      }
      if (this.#isWasteful) this.#passTwice(asking, push);
    }
    return out.length - before;
  }

  /** Finds the remaining matches of the current text with TwoPass. REQUIRES: no match is empty. */
  #passTwice(limits: Limits, found: (match: Span) => void): void {
    const rest = (this.#rest ??= this.#beginRest(this.#get(run.FLOOR)));
    this.#findRest(rest, limits, found);
    if (this.#hasEnded) return;
    this.#rest = undefined;
    this.#standAt(rest.to);
    this.#set(run.OVERRUN, 0);
  }

  #beginRest(at: number): Rest {
    this.#isWasteful = false;
    const twoPass = (this.#twoPass ??= new TwoPass(this.#program, this.#classes));
    const [start, first, end] = [run.FROM, run.FLOOR, run.TO].map((field) => this.#get(field));
    twoPass.begin(this.#kernel.bytes, { start: start!, first: first!, end: end! });
    return { twoPass, to: end!, at, lastEnd: -1 };
  }

  #findRest(rest: Rest, limits: Limits, found: (match: Span) => void): void {
    const { twoPass } = rest;
    const { bytes } = this.#kernel; // the memory may have grown since a pause
    twoPass.bytes = bytes;
    const next = (at: number) => {
      rest.at = at;
      const match = twoPass.find(at, limits);
      if (match) rest.lastEnd = match.end;
      return match;
    };
    eachMatch(bytes, { start: rest.at, end: rest.to }, next, found, rest.lastEnd);
    this.stopped = twoPass.stopped;
    this.paused = twoPass.paused;
  }

  get #hasEnded(): boolean {
    return this.stopped || this.paused;
  }

  #drain(from: number, out: RangeList): void {
    const count = this.#get(run.COUNT);
    reserveRanges(out, count);
    const source = this.#place.out / 4;
    const target = 2 * out.length;
    for (let i = 0; i < 2 * count; i++)
      out.data[target + i] = this.#kernel.words[source + i]! - from;
    out.length += count;
    this.#set(run.COUNT, 0);
  }

  #beginSingles(from: number, to: number): Singles {
    this.#begin(from, to, SINGLE);
    return (this.#singles = { from, to, at: from, lastEnd: -1, isMidway: false });
  }

  /** Starts the loop again for each match, because eachMatch() decides where to continue after an empty match. */
  #runSingles(singles: Singles, out: RangeList | undefined, limits: Limits): number {
    const { from, to } = singles;
    let count = 0;
    const found = (match: Span) => {
      count++;
      if (out) pushRange(out, match.start - from, match.end - from);
    };
    if (!this.#rest) {
      const next = (at: number) => this.#single(at, singles, limits);
      eachMatch(this.#kernel.bytes, { start: singles.at, end: to }, next, found, singles.lastEnd);
      if (this.#isWasteful) {
        this.#rest = this.#beginRest(singles.at);
        this.#rest.lastEnd = singles.lastEnd;
      }
    }
    if (this.#rest) this.#findRest(this.#rest, limits, found);
    return count;
  }

  #single(at: number, singles: Singles, limits: Limits): Span | undefined {
    if (this.stopped) return undefined;
    if (!singles.isMidway) this.#standAt(at);
    singles.at = at;
    const answer = this.#run(limits);
    singles.isMidway = this.paused;
    if (answer !== FOUND) return undefined;
    singles.lastEnd = this.#get(run.LAST);
    return { start: this.#get(run.BEST), end: singles.lastEnd };
  }

  /**
   * Drops all states, which are useless without their tables. An automaton keeps states only while it has a place in
   * the kernel.
   */
  lostPlace(): void {
    this.#twoPass = this.#rest = undefined;
    this.#forward.reset();
    this.#backward.reset();
  }

  #begin(from: number, to: number, mode: number): void {
    const { place, isNew } = run.takePlace(this.#kernel, this);
    this.#place = place;
    if (isNew) {
      run.preparePlace(this.#kernel, place, this.#classes, this.#needle);
      run.clearForward(this.#kernel, place);
      run.clearBackward(this.#kernel, place);
    }
    this.stopped = this.paused = false;
    this.#singles = this.#rest = undefined;
    this.#isWasteful = false;
    this.#standAt(from);
    this.#set(run.FROM, from);
    this.#set(run.TO, to);
    this.#set(run.OVERRUN, 0);
    this.#fuel = mode === SINGLE ? SINGLES_FUEL : FUEL;
    this.#set(run.FUEL, this.#fuel);
    this.#set(run.MODE, mode);
    this.#set(run.COUNT, 0);
    this.#set(run.STRETCH, 0);
    this.#set(run.STRETCH_END, 0);
  }

  /** Lets the search continue at the address `place`, as if a text began there. */
  #standAt(place: number): void {
    this.#set(run.AT, place);
    this.#set(run.FLOOR, place);
    this.#set(run.LAST, 0);
    this.#set(run.STATE, run.UNKNOWN);
    this.#set(run.PHASE, 0);
  }

  /** Runs until the text ends, `out` is full, one match is found, or a limit is reached. */
  #run(limits: Limits): number {
    const address = this.#place.words * 4;
    for (;;) {
      const answer = this.#kernel.run.runAutomaton(address);
      if (answer === NEED_STEP) this.#step();
      else if (answer === NEED_START) this.#start();
      else if (answer !== PAUSE) return answer;
      if ((answer === PAUSE || this.#hasWorked()) && this.#mustStop(limits)) return PAUSE;
    }
  }

  #hasWorked(): boolean {
    return this.isThrashing || this.#forward.work + this.#backward.work > WORK;
  }

  #mustStop({ budget, isSliceOver }: Limits): boolean {
    this.#bytesRun += this.#fuel - this.#get(run.FUEL);
    this.#set(run.FUEL, this.#fuel);
    this.#forward.work = this.#backward.work = 0;
    this.stopped = budget?.() ?? false;
    this.paused = !this.stopped && (isSliceOver?.() ?? false);
    const progress = this.#get(run.FLOOR) - this.#get(run.FROM);
    const isReadingOn = this.#get(run.OVERRUN) > OVERRUN + OVERRUN_RATIO * progress;
    this.#isWasteful = !this.stopped && !this.paused && (this.isThrashing || isReadingOn);
    return this.#hasEnded || this.#isWasteful;
  }

  #step(): void {
    const isBackwards = this.#get(run.PHASE) === 1;
    const field = isBackwards ? run.BACK_STATE : run.STATE;
    const automaton = isBackwards ? this.#backward : this.#forward;
    const limit = isBackwards ? this.#capacity.backward : this.#capacity.forward;
    if (automaton.size >= limit - 1 || automaton.held > HELD) this.#empty(isBackwards);
    const state = this.#get(field);
    const byteClass = this.#get(run.MISSING);
    const next = automaton.step(state, byteClass);
    run.useRows(this.#place, this.#classes.count, automaton.size, isBackwards);
    const table = isBackwards ? this.#place.backward : this.#place.forward;
    const at = table / 4 + state * (this.#classes.count + 1) + byteClass;
    this.#kernel.words[at] =
      next === DEAD
        ? run.DEAD_ENTRY
        : automaton.hasMatched(next)
          ? (next | run.MATCHED_BIT) >>> 0
          : next;
  }

  /** Drops all states of one direction except the current one. */
  #empty(isBackwards: boolean): void {
    if (isBackwards) {
      this.#backward.reset(this.#get(run.BACK_STATE));
      run.clearBackward(this.#kernel, this.#place);
      this.#set(run.BACK_STATE, 0);
      return;
    }
    const bytes = this.#bytesRun + this.#fuel - this.#get(run.FUEL);
    if (bytes < BYTES_PER_STATE * this.#forward.size) this.#fills++;
    else this.#fills = 0;
    this.#bytesRun = this.#get(run.FUEL) - this.#fuel;
    this.#forward.reset(this.#get(run.STATE));
    run.clearForward(this.#kernel, this.#place);
    this.#set(run.STATE, 0);
  }

  #start(): void {
    const isBackwards = this.#get(run.PHASE) === 1;
    const kind = this.#get(run.MISSING);
    const automaton = isBackwards ? this.#backward : this.#forward;
    const state = automaton.start(kind);
    run.useRows(this.#place, this.#classes.count, automaton.size, isBackwards);
    this.#set((isBackwards ? run.BACK_STARTS : run.STARTS) + kind, state);
  }

  #get(field: number): number {
    return this.#kernel.words[this.#place.words + field]!;
  }

  #set(field: number, value: number): void {
    this.#kernel.words[this.#place.words + field] = value;
  }
}
