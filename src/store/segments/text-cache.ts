/**
 * Pages of text, kept in memory that all threads of an engine share.
 *
 * A page and a few bytes around it lie in a slot. Slots form sets of WAYS. The page decides on the set, and a clock
 * of each set on the slot that is used again: so nothing is linked, and threads share the cache without a lock.
 * Whoever fills a slot puts its number into the slot's state first, and takes it out with the next version.
 * Whoever reads one copies the bytes, then looks whether the state is still what it was. A thread that died
 * while it filled a slot keeps that slot from all others, until its successor of the same number begins.
 *
 * A page of 8 KiB from a slot takes 0.2 µs (0.7 if no processor has it in its cache), from LMDB 4.5, which copies the 32
 * KiB around it. Memory that each thread has for itself would be as fast, and hold as many times fewer pages
 * as there are threads.
 */

import { PAGE_BYTES } from "../format/format.ts";

/** A slot holds the byte before a page, the page, and what ends behind it of what begins in it. */
const LEAD_BYTES = 1;
const TAIL_BYTES = 127;
const SLOT_BYTES = LEAD_BYTES + PAGE_BYTES + TAIL_BYTES;
const WAYS = 8;
/** Words of the directory for each slot: page, segment (0: the slot is empty), state, mark, a page that was missed. */
const WORDS = 5;
/** And one for each set, the hand of its clock. */
const DIRECTORY_BYTES = 4 * (WORDS + 1);
/** A state: the version, and in its low bits who is filling the slot (0: nobody). */
const OWNER_BITS = 9;
const OWNER = 2 ** OWNER_BITS - 1;
/** A state is never negative. */
const MOST_VERSIONS = 2 ** (31 - OWNER_BITS) - 1;

/** The most bytes of a cache: what a typed array holds on Node 20. */
export const MOST_CACHE_BYTES = 4 * 2 ** 30;

/** What threads share. Plain data. */
export interface TextCacheMemory {
  /** See CacheDirectory. */
  readonly directory: SharedArrayBuffer;
  readonly text: SharedArrayBuffer;
}

interface PageKey {
  readonly segment: number;
  readonly page: number;
}

/** A page, and where its text lies in that of the segment. */
export interface CachedPage extends PageKey {
  readonly start: number;
  /** Of its blob. */
  readonly blobStart: number;
  readonly blobEnd: number;
}

/** Memory of so many bytes at most, all told. undefined: there is no room for a page. */
export function newTextCacheMemory(bytes: number): TextCacheMemory | undefined {
  const slots = slotsWithin(bytes);
  if (slots === 0) return undefined;
  return {
    directory: new SharedArrayBuffer(slots * DIRECTORY_BYTES),
    text: new SharedArrayBuffer(slots * SLOT_BYTES),
  };
}

function slotsWithin(bytes: number): number {
  const slots = Math.floor(bytes / (SLOT_BYTES + DIRECTORY_BYTES));
  return slots < WAYS ? slots : slots - (slots % WAYS);
}

/** Which page each slot holds, and who fills it. */
export class CacheDirectory {
  readonly slots: number;
  readonly ways: number;
  /** For each set the pages of its slots, then their segments: 64 bytes, which come from memory at once. */
  readonly #keys: Int32Array;
  readonly #states: Int32Array;
  /** 1: read since the hand of the clock came by. */
  readonly #marks: Int32Array;
  readonly #missed: Int32Array;
  readonly #hands: Int32Array;
  readonly #owner: number;

  /** `owner` is a number from 1 that no other thread has that is alive. */
  constructor(directory: SharedArrayBuffer, owner = OWNER) {
    const slots = directory.byteLength / DIRECTORY_BYTES;
    const column = (number: number) => new Int32Array(directory, 4 * number * slots, slots);
    this.slots = slots;
    this.ways = Math.min(WAYS, slots);
    this.#keys = new Int32Array(directory, 0, 2 * slots);
    this.#states = column(2);
    this.#marks = column(3);
    this.#missed = column(4);
    this.#hands = new Int32Array(directory, 4 * WORDS * slots, slots / this.ways);
    this.#owner = owner;
    this.#releaseOwn();
  }

  /** The slot of a page, or -1. */
  find(page: PageKey): number {
    const first = this.#setOf(page);
    const keys = this.#keys;
    for (let way = 0, at = 2 * first; way < this.ways; way++, at++)
      if (keys[at] === page.page && keys[at + this.ways] === page.segment) return first + way;
    return -1;
  }

  /** What end() wants when the slot has been read; -1: it is another page's by now, or being filled. */
  begin(slot: number, page: PageKey): number {
    const state = Atomics.load(this.#states, slot);
    return (state & OWNER) === 0 && this.#holds(slot, page) ? state : -1;
  }

  /** Whether what was read of the slot since begin() is good. Marks the slot. */
  end(slot: number, state: number): boolean {
    // written to, so that no processor puts what was read after it
    if (Atomics.add(this.#states, slot, 0) !== state) return false;
    if (this.#marks[slot] === 0) this.#marks[slot] = 1;
    return true;
  }

  /** Whether the page was missed before, of late. */
  wasMissed(page: PageKey): boolean {
    const hash = hashOf(page);
    const place = (hash >>> 0) % this.slots;
    const was = this.#missed[place] === hash;
    this.#missed[place] = was ? 0 : hash;
    return was;
  }

  /**
   * Takes an empty slot of the page's set, or the next that was not read since the hand came by. Nobody else
   * touches it until release(). -1: there is none.
   */
  take(page: PageKey): number {
    const first = this.#setOf(page);
    for (let slot = first; slot < first + this.ways; slot++)
      if (this.#keys[this.#keyOf(slot) + this.ways] === 0 && this.#claim(slot)) return slot;
    const set = first / this.ways;
    for (let step = 0; step < 2 * this.ways; step++) {
      const hand = this.#hands[set]!;
      this.#hands[set] = (hand + 1) % this.ways;
      if (this.#marks[first + hand] === 1) this.#marks[first + hand] = 0;
      else if (this.#claim(first + hand)) return first + hand;
    }
    return -1;
  }

  /** The slot, which was taken, holds the page now; without one it is empty. */
  release(slot: number, page: PageKey = { segment: 0, page: 0 }): void {
    const at = this.#keyOf(slot);
    this.#keys[at] = page.page;
    this.#keys[at + this.ways] = page.segment;
    this.#marks[slot] = 0;
    const version = ((this.#states[slot]! >>> OWNER_BITS) + 1) & MOST_VERSIONS;
    Atomics.store(this.#states, slot, version << OWNER_BITS);
  }

  /** Drops the pages of all segments but these. */
  dropOthers(segments: ReadonlySet<number>): void {
    for (let slot = 0; slot < this.slots; slot++) {
      const segment = this.#keys[this.#keyOf(slot) + this.ways]!;
      if (segment !== 0 && !segments.has(segment) && this.#claim(slot)) this.release(slot);
    }
  }

  #holds(slot: number, { segment, page }: PageKey): boolean {
    const at = this.#keyOf(slot);
    return this.#keys[at] === page && this.#keys[at + this.ways] === segment;
  }

  /** Where the page of a slot stands; its segment stands `ways` words behind. */
  #keyOf(slot: number): number {
    return slot + slot - (slot % this.ways);
  }

  /** The first slot of its set. */
  #setOf(page: PageKey): number {
    return ((hashOf(page) >>> 0) % this.#hands.length) * this.ways;
  }

  /** Whether the slot is this thread's now. */
  #claim(slot: number): boolean {
    const state = Atomics.load(this.#states, slot);
    if ((state & OWNER) !== 0) return false;
    return Atomics.compareExchange(this.#states, slot, state, state | this.#owner) === state;
  }

  /** Empties slots that one of the same number was filling when it died. */
  #releaseOwn(): void {
    for (let slot = 0; slot < this.slots; slot++)
      if ((this.#states[slot]! & OWNER) === this.#owner) this.release(slot);
  }
}

/** Another one for each page of a segment; those of neighbours are neighbours. */
const hashOf = ({ segment, page }: PageKey): number => (Math.imul(segment, 0x9e3779b1) + page) | 0;

export class TextCache {
  /** Of text that it keeps at most. */
  readonly bytes: number;
  readonly #directory: CacheDirectory;
  readonly #text: Uint8Array;

  /** `worker` is the number of the thread. */
  constructor({ directory, text }: TextCacheMemory, worker: number) {
    this.#directory = new CacheDirectory(directory, 1 + worker);
    this.#text = new Uint8Array(text);
    this.bytes = text.byteLength;
  }

  /** Where the text begins that a slot of the page holds, and where it ends. */
  static reach({ start, blobStart, blobEnd }: CachedPage): readonly [from: number, to: number] {
    return [
      Math.max(blobStart, start - LEAD_BYTES),
      Math.min(blobEnd, start + PAGE_BYTES + TAIL_BYTES),
    ];
  }

  /**
   * Copies text [from, to) to `target` at `at`; returns false if the page is not there, and what lies at `at` is
   * anything then. REQUIRES: it is within the page's reach().
   */
  read(
    page: CachedPage,
    [from, to]: readonly [from: number, to: number],
    target: Uint8Array,
    at: number,
  ): boolean {
    const slot = this.#directory.find(page);
    const state = slot < 0 ? -1 : this.#directory.begin(slot, page);
    if (state < 0) return false;
    const place = placeOf(slot) + from - page.start;
    copy(this.#text, place, target, at, to - from);
    return this.#directory.end(slot, state);
  }

  /**
   * Whether a page that was not there is to be kept now: when it is asked for again. A search that reads
   * more than there is room for would fill all of it, and find nothing of that the next time.
   */
  wants(page: CachedPage): boolean {
    return this.#directory.wasMissed(page);
  }

  /** Keeps a page whose reach() lies in `source`, at `at`. */
  keep(page: CachedPage, source: Uint8Array, at: number): void {
    if (this.#directory.find(page) >= 0) return;
    const slot = this.#directory.take(page);
    if (slot < 0) return;
    const [from, to] = TextCache.reach(page);
    copy(source, at, this.#text, placeOf(slot) + from - page.start, to - from);
    this.#directory.release(slot, page);
  }
}

/** Where the first byte of a page lies. */
const placeOf = (slot: number): number => slot * SLOT_BYTES + LEAD_BYTES;

const { fill } = Buffer.prototype;

/** Copies as set() does. That goes byte by byte, or word by word, where memory is shared, 2 to 4 times as slowly; a fill is one memcpy(). */
function copy(
  source: Uint8Array,
  from: number,
  target: Uint8Array,
  at: number,
  length: number,
): void {
  fill.call(target as Buffer, source.subarray(from, from + length), at, at + length);
}
