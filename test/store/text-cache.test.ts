/** The cache of pages: compared with a twin, with threads that race, with threads that die, and within its size. */

import { Worker } from "node:worker_threads";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  CacheDirectory,
  newTextCacheMemory,
  TextCache,
  type CachedPage,
} from "../../src/store/segments/text-cache.ts";
import { PAGE_BYTES } from "../../src/store/format/format.ts";
import { bundle } from "../threads/bundle.ts";

const PAGE = PAGE_BYTES;
/** The bytes that one slot takes in all. */
const SLOT = PAGE + 128 + 24;

const cacheOf = (slots: number, worker = 0) => {
  const memory = newTextCacheMemory(slots * SLOT)!;
  return { memory, cache: new TextCache(memory, worker) };
};

/** Returns a page in the middle of a blob. */
const pageOf = (segment: number, page: number): CachedPage => {
  const start = 100 + page * PAGE;
  return { segment, page, start, end: start + PAGE, blobStart: 100, blobEnd: 200 * PAGE };
};

/** Returns the text of a segment from `from` on. */
function textAt(segment: number, from: number, length: number): Uint8Array {
  const text = new Uint8Array(length);
  for (let i = 0; i < length; i++) text[i] = segment * 31 + (from + i) * 7 + ((from + i) >> 8);
  return text;
}

function keep(cache: TextCache, page: CachedPage): void {
  const [from, to] = TextCache.reach(page);
  const source = new Uint8Array(to - from + 3);
  source.set(textAt(page.segment, from, to - from), 3);
  cache.keep(page, source, 3);
}

/** Returns a part of a page that is in the cache. */
function read(cache: TextCache, page: CachedPage, part = TextCache.reach(page)) {
  const target = new Uint8Array(part[1] - part[0] + 5);
  return cache.read(page, part, target, 5) ? target.subarray(5) : undefined;
}

/** The slow twin, for one set: a list of slots and a hand. */
class Twin {
  readonly #slots: ({ key: string; isMarked: boolean } | undefined)[];
  #hand = 0;

  constructor(slots: number) {
    this.#slots = Array.from({ length: slots }, () => undefined);
  }

  read(key: string): boolean {
    const slot = this.#slots.find((one) => one?.key === key);
    if (slot) slot.isMarked = true;
    return slot !== undefined;
  }

  keep(key: string): void {
    if (this.#slots.some((one) => one?.key === key)) return;
    const empty = this.#slots.indexOf(undefined);
    this.#slots[empty < 0 ? this.#turn() : empty] = { key, isMarked: false };
  }

  drop(isDropped: (key: string) => boolean): void {
    this.#slots.forEach((one, i) => one && isDropped(one.key) && (this.#slots[i] = undefined));
  }

  #turn(): number {
    for (;;) {
      const at = this.#hand;
      this.#hand = (at + 1) % this.#slots.length;
      const slot = this.#slots[at]!;
      if (!slot.isMarked) return at;
      slot.isMarked = false;
    }
  }
}

const actions = fc.array(
  fc.record({
    kind: fc.constantFrom("read", "read", "keep", "keep", "drop"),
    segment: fc.integer({ min: 1, max: 3 }),
    page: fc.nat(5),
  }),
  { maxLength: 80 },
);

test("holds what a list with a hand holds", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), actions, (slots, given) => {
      const { cache, memory } = cacheOf(slots);
      const twin = new Twin(slots);
      for (const { kind, segment, page } of given) {
        const one = pageOf(segment, page);
        const key = `${segment}/${page}`;
        if (kind === "keep") {
          keep(cache, one);
          twin.keep(key);
        } else if (kind === "drop" && page === 0) {
          new CacheDirectory(memory.directory).dropOthers(new Set([segment]));
          twin.drop((other) => !other.startsWith(`${segment}/`));
        } else {
          const [from, to] = TextCache.reach(one);
          const expected = twin.read(key) ? textAt(segment, from, to - from) : undefined;
          expect(read(cache, one)).toEqual(expected);
        }
      }
    }),
    { numRuns: 300 },
  );
});

test("of many sets, what is there is right, and most of it is there", () => {
  const { cache } = cacheOf(200);
  for (let page = 0; page < 150; page++) keep(cache, pageOf(7, page));
  let there = 0;
  for (let page = 0; page < 150; page++) {
    const part = [pageOf(7, page).start + 11, pageOf(7, page).start + 500] as const;
    const bytes = read(cache, pageOf(7, page), [...part]);
    if (bytes) expect(bytes).toEqual(textAt(7, part[0], 489));
    if (bytes) there++;
  }
  expect(there).toBeGreaterThanOrEqual(140);
});

test("a page at the ends of its blob", () => {
  const { cache } = cacheOf(8);
  const only = { segment: 1, page: 0, start: 50, end: 50 + PAGE, blobStart: 50, blobEnd: 60 };
  expect(TextCache.reach(only)).toEqual([50, 60]);
  const middle = {
    segment: 1,
    page: 2,
    start: 10_000,
    end: 10_000 + PAGE,
    blobStart: 10_000 - 2 * PAGE,
    blobEnd: 20_000,
  };
  expect(TextCache.reach(middle)).toEqual([9_999, 10_000 + PAGE + 127]);
  for (const page of [only, middle]) {
    keep(cache, page);
    const [from, to] = TextCache.reach(page);
    expect(read(cache, page)).toEqual(textAt(1, from, to - from));
  }
});

test("a page is wanted when it is missed again", () => {
  const { cache } = cacheOf(8);
  const asked = [1, 1, 1, 1, 2, 2].map((page) => cache.wants(pageOf(1, page)));
  expect(asked).toEqual([false, true, false, true, false, true]);
  // as many others have come between as there is room for
  const first = Array.from({ length: 64 }, (_, page) => cache.wants(pageOf(2, page)));
  const again = Array.from({ length: 64 }, (_, page) => cache.wants(pageOf(2, page)));
  expect([first.includes(true), again.includes(true)]).toEqual([false, false]);
});

test.each([0, 1, SLOT - 1, SLOT, 5 * SLOT + 1, 9 * SLOT, 1_000_003])(
  "%i bytes are not exceeded",
  (bytes) => {
    const memory = newTextCacheMemory(bytes);
    expect(memory === undefined).toBe(bytes < SLOT);
    const taken = memory ? memory.directory.byteLength + memory.text.byteLength : 0;
    expect(taken).toBeLessThanOrEqual(bytes);
    expect(taken).toBeGreaterThan(bytes - 8 * SLOT);
  },
);

test("a thread that dies while it fills a slot keeps it until its successor begins", () => {
  const { cache, memory } = cacheOf(1, 0);
  const page = pageOf(1, 3);
  const dying = new CacheDirectory(memory.directory, 5);
  expect(dying.take(page)).toBe(0);
  keep(cache, page);
  expect(read(cache, page)).toBeUndefined();
  const other = new TextCache(memory, 3); // owner 4
  keep(other, page);
  expect(read(other, page)).toBeUndefined();
  const successor = new TextCache(memory, 4); // owner 5
  keep(successor, page);
  expect(read(cache, page)).toBeDefined();
});

test("what is read while its slot is filled with another page is no hit", () => {
  const { memory } = cacheOf(1);
  const directory = new CacheDirectory(memory.directory, 1);
  const [one, other] = [pageOf(1, 1), pageOf(1, 2)];
  directory.release(directory.take(one), one);
  const state = directory.begin(0, one);
  expect(directory.end(0, state)).toBe(true);
  expect(directory.begin(0, other)).toBe(-1);
  directory.take(other); // the mark goes
  const slot = directory.take(other);
  expect([slot, directory.begin(0, one), directory.end(0, state)]).toEqual([-1, -1, false]);
  directory.release(0, other);
  expect(directory.end(0, state)).toBe(false);
});

test("threads that race read whole pages or none", async () => {
  const entry = await bundle("../store/text-cache-race.ts");
  const memory = newTextCacheMemory(8 * SLOT)!;
  const race = (worker: number) =>
    new Promise<{ hits: number; wrong: number }>((resolve, reject) => {
      const workerData = { memory, worker, pages: 12, rounds: 20_000 };
      const thread = new Worker(entry, { workerData });
      thread.once("message", resolve).once("error", reject);
    });
  const results = await Promise.all([race(0), race(1), race(2)]);
  for (const { hits, wrong } of results) {
    expect(hits).toBeGreaterThan(500);
    expect(wrong).toBe(0);
  }
});
