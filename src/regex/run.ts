/**
 * Manages the memory in which automata run in a kernel. This memory is divided into places. A place has the fields
 * and tables of one automaton, which kernel/assembly/automaton.ts describes. A kernel has few places, and a new
 * automaton takes the least recently used one. So the memory is bounded for any number of expressions.
 */

import type { Kernel } from "../kernel/kernel.ts";
import { MOST_NEEDLE, type Needle } from "./needle.ts";

/** The word indexes of those fields of a place that code outside the kernel reads and writes. */
export const AT = 0;
export const FROM = 1;
export const TO = 2;
export const FLOOR = 3;
export const STATE = 4;
export const LAST = 5;
export const FUEL = 6;
export const PHASE = 7;
export const MODE = 8;
export const COUNT = 9;
export const MISSING = 10;
export const BACK_STATE = 12;
export const BEST = 13;
const OUT = 14;
const OUT_PAIRS = 15;
const CLASSES = 16;
export const CLASS_COUNT = 17;
const FORWARD = 18;
const BACKWARD = 19;
const PAIRS = 20;
export const PAIR_STATES = 21;
export const EDGE_KIND = 22;
export const STARTS = 24;
export const BACK_STARTS = 28;
export const STRETCH = 32;
export const STRETCH_END = 33;
export const OVERRUN = 34;
const NEEDLE = 35;
const NEEDLE_MASKS = 36;
const NEEDLE_LENGTH = 37;
const NEEDLE_FIRST = 38;
const NEEDLE_SECOND = 39;
const NEEDLE_LEAD = 40;

export const UNKNOWN = 0xffff_ffff;
export const DEAD_ENTRY = 0xffff_fffe;
export const MATCHED_BIT = 0x8000_0000;

/** The offset of the needle's bytes and masks in a place, in bytes. They follow the fields. */
const NEEDLE_AT = 176;
const FIELDS_BYTES = NEEDLE_AT + 2 * MOST_NEEDLE;
const CLASSES_BYTES = 2_560;
// This is enough for about 5 000 forward states of an ordinary expression, and for half as many backward states.
const FORWARD_BYTES = 512 * 1024;
const BACKWARD_BYTES = 256 * 1024;
// The pair table is read in random order, so it pays off only if its hot part fits into the second-level cache.
const PAIRS_BYTES = 512 * 1024;
const OUT_RANGES = 2_048;
/**
 * The number of bytes of a table that are initialized at a time. Parts of a table that no state has reached yet are
 * not touched, so they take no physical memory.
 */
const STEP_BYTES = 16 * 1024;

interface Extents {
  forward: number;
  backward: number;
  pairs: number;
}

const TABLE_BYTES: Readonly<Extents> = {
  forward: FORWARD_BYTES,
  backward: BACKWARD_BYTES,
  pairs: PAIRS_BYTES,
};

export const PLACES = 12; // each has 1.3 MiB, of which ordinary expressions touch 0.4 MiB

export interface Place {
  readonly kernel: Kernel;
  readonly words: number; // word index of the run's fields
  readonly classes: number; // an address, like the following four
  readonly forward: number;
  readonly backward: number;
  readonly pairs: number;
  readonly out: number;
  owner: Owner | undefined;
  /** The number of bytes at the start of each table that may differ from UNKNOWN. */
  readonly used: Extents;
  /**
   * The number of bytes at the start of each table that have ever been filled with UNKNOWN. The rest of the table is
   * zero.
   */
  readonly filled: Extents;
}

/** The automaton that uses a place. lostPlace() is called when the automaton loses the place and its tables. */
export interface Owner {
  lostPlace(): void;
}

/**
 * The places of each kernel, the most recently used one last. An LruCache would drop the value that it evicts, but a
 * place is given to the next owner.
 */
const places = new WeakMap<Kernel, Place[]>();

/**
 * Returns the owner's place. If `isNew` is true, the owner did not have this place before, and must prepare and clear
 * it.
 */
export function takePlace(kernel: Kernel, owner: Owner): { place: Place; isNew: boolean } {
  let list = places.get(kernel);
  if (!list) places.set(kernel, (list = []));
  const at = list.findIndex((place) => place.owner === owner);
  if (at === list.length - 1 && at >= 0) return { place: list[at]!, isNew: false };
  if (at >= 0) {
    const [place] = list.splice(at, 1);
    list.push(place!);
    return { place: place!, isNew: false };
  }
  const place = list.length < PLACES ? reservePlace(kernel) : list.shift()!;
  place.owner?.lostPlace();
  place.owner = owner;
  list.push(place);
  return { place, isNew: true };
}

function reservePlace(kernel: Kernel): Place {
  const length =
    FIELDS_BYTES + CLASSES_BYTES + FORWARD_BYTES + BACKWARD_BYTES + PAIRS_BYTES + 8 * OUT_RANGES;
  const start = kernel.reserve(length);
  const classes = start + FIELDS_BYTES;
  const forward = classes + CLASSES_BYTES;
  const backward = forward + FORWARD_BYTES;
  const pairs = backward + BACKWARD_BYTES;
  const out = pairs + PAIRS_BYTES;
  const used = { forward: 0, backward: 0, pairs: 0 };
  const tables = { forward, backward, pairs, used, filled: { ...used } };
  return { kernel, words: start / 4, classes, out, owner: undefined, ...tables };
}

export interface Capacity {
  readonly forward: number; // in states, like the following two
  readonly backward: number;
  readonly pairs: number;
}

/** Returns the maximum number of states of an automaton with this number of byte classes, for each table. */
export function capacity(classCount: number): Capacity {
  const stride = 4 * (classCount + 1);
  const pairs = Math.floor(PAIRS_BYTES / (4 * classCount * classCount));
  return {
    forward: Math.floor(FORWARD_BYTES / stride),
    backward: Math.floor(BACKWARD_BYTES / stride),
    pairs: pairs < 4 ? 0 : pairs,
  };
}

/**
 * Writes the fields that do not change during a run, the needle, and the columns that each byte has in the tables.
 */
export function preparePlace(
  kernel: Kernel,
  place: Place,
  classes: { of: Uint8Array; kind: Uint8Array; count: number; edgeKind: number },
  needle: Needle | undefined,
): void {
  const { words } = kernel;
  const set = (field: number, value: number) => (words[place.words + field] = value);
  set(OUT, place.out);
  set(OUT_PAIRS, OUT_RANGES);
  set(CLASSES, place.classes);
  set(CLASS_COUNT, classes.count);
  set(FORWARD, place.forward);
  set(BACKWARD, place.backward);
  set(PAIRS, place.pairs);
  set(PAIR_STATES, capacity(classes.count).pairs);
  set(EDGE_KIND, classes.edgeKind);
  const needleAt = 4 * place.words + NEEDLE_AT;
  set(NEEDLE, needle ? needleAt : 0);
  if (needle) {
    set(NEEDLE_MASKS, needleAt + MOST_NEEDLE);
    set(NEEDLE_LENGTH, needle.bytes.length);
    set(NEEDLE_FIRST, needle.rarest[0]);
    set(NEEDLE_SECOND, needle.rarest[1]);
    set(NEEDLE_LEAD, needle.lead);
    // the needle is padded, as the kernel requires
    kernel.bytes.fill(0xff, needleAt, needleAt + 2 * MOST_NEEDLE);
    kernel.bytes.set(needle.bytes, needleAt);
    kernel.bytes.set(needle.masks, needleAt + MOST_NEEDLE);
  }
  kernel.bytes.set(classes.of, place.classes);
  kernel.bytes.set(classes.kind, place.classes + 256);
  const columns = (place.classes + 512) / 4;
  for (let byte = 0; byte < 256; byte++) {
    words[columns + byte] = classes.of[byte]! * classes.count * 4;
    words[columns + 256 + byte] = classes.of[byte]! * 4;
  }
}

/** Empties the forward tables, including the pair table. */
export function clearForward(kernel: Kernel, place: Place): void {
  const { used, forward, pairs, words } = place;
  kernel.words.fill(UNKNOWN, forward / 4, (forward + used.forward) / 4);
  kernel.words.fill(UNKNOWN, pairs / 4, (pairs + used.pairs) / 4);
  kernel.words.fill(UNKNOWN, words + STARTS, words + STARTS + 4);
  used.forward = used.pairs = 0;
}

export function clearBackward(kernel: Kernel, place: Place): void {
  const { used, backward, words } = place;
  kernel.words.fill(UNKNOWN, backward / 4, (backward + used.backward) / 4);
  kernel.words.fill(UNKNOWN, words + BACK_STARTS, words + BACK_STARTS + 4);
  used.backward = 0;
}

/** Prepares the table rows of the first `states` states for use. */
export function useRows(
  place: Place,
  classCount: number,
  states: number,
  backwards: boolean,
): void {
  const stride = 4 * (classCount + 1);
  if (backwards) useBytes(place, "backward", states * stride);
  else {
    useBytes(place, "forward", states * stride);
    const rows = Math.min(states, capacity(classCount).pairs);
    useBytes(place, "pairs", rows * 4 * classCount * classCount);
  }
}

function useBytes(place: Place, table: keyof Extents, bytes: number): void {
  const { kernel, used, filled } = place;
  used[table] = bytes;
  if (bytes <= filled[table]) return;
  const start = place[table];
  const end = Math.min(TABLE_BYTES[table], Math.max(bytes, filled[table] + STEP_BYTES));
  kernel.words.fill(UNKNOWN, (start + filled[table]) / 4, (start + end) / 4);
  filled[table] = end;
}
