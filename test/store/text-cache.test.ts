/** The cache of windows: compared with a twin, within its size, and when a window cannot be loaded. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { createKernel, type Kernel } from "../../src/kernel/kernel.ts";
import { SLOT_BYTES, TextCache, type TextWindow } from "../../src/store/segments/text-cache.ts";

/** Each segment has this many windows of two blobs. */
const WINDOWS = 4;
const BLOBS = 2 * WINDOWS;

const windowOf = (content: number, number: number, bytes = 1000): TextWindow => ({
  content,
  firstBlob: 2 * number,
  endBlob: 2 * number + 2,
  bytes,
});

const blobOf = ({ content, firstBlob }: TextWindow, nth = 0) => ({
  content,
  blob: firstBlob + nth,
});

const keyOf = ({ content, firstBlob }: TextWindow): number => 100 * content + firstBlob;

/** Writes a window's text. The kernel's memory may have grown meanwhile. */
const loadInto = (kernel: Kernel, window: TextWindow) => (at: number) =>
  void kernel.bytes.fill(keyOf(window) & 0xff, at, at + window.bytes);

/** The slow twin: a list of slots with a clock hand. Free slots are a stack. */
class Twin {
  readonly #slots: ({ window: TextWindow; isUsed: boolean } | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #read = new Map<number, number>();
  #hand = 0;

  constructor(most: number) {
    for (let place = most - 1; place >= 0; place--) this.#free.push(place);
  }

  find(key: number): boolean {
    const slot = this.#slots.find((one) => one && keyOf(one.window) === key);
    if (slot) slot.isUsed = true;
    return slot !== undefined;
  }

  addRead(key: number, bytes: number): void {
    this.#read.set(key, (this.#read.get(key) ?? 0) + bytes);
  }

  keep(window: TextWindow, mayEvict: boolean): boolean {
    const key = keyOf(window);
    if (2 * (this.#read.get(key) ?? 0) < window.bytes) return false;
    this.#read.set(key, 0);
    const place = this.#free.pop() ?? (mayEvict ? this.#evict() : undefined);
    if (place === undefined) return false;
    this.#slots[place] = { window, isUsed: true };
    return true;
  }

  drop(content: number): void {
    for (const key of this.#read.keys())
      if (Math.floor(key / 100) === content) this.#read.delete(key);
    this.#slots.forEach((slot, place) => {
      if (slot?.window.content !== content) return;
      this.#slots[place] = undefined;
      this.#free.push(place);
    });
  }

  #evict(): number | undefined {
    while (this.#slots.length > 0) {
      const at = this.#hand;
      this.#hand = (at + 1) % this.#slots.length;
      const slot = this.#slots[at]!;
      if (!slot.isUsed) return at;
      slot.isUsed = false;
    }
    return undefined;
  }
}

const actions = fc.array(
  fc.record({
    kind: fc.constantFrom("find", "read", "add", "replace", "replace", "drop"),
    content: fc.integer({ min: 1, max: 2 }),
    number: fc.nat(WINDOWS - 1),
    bytes: fc.constantFrom(1, 499, 500, 1000, 1000),
  }),
  { minLength: 40, maxLength: 200 },
);

test("caches the same windows as the slow twin", () => {
  fc.assert(
    fc.property(fc.nat(4), actions, (slots, given) => {
      const kernel = createKernel();
      const cache = new TextCache(kernel, slots * SLOT_BYTES);
      const twin = new Twin(slots);
      for (const { kind, content, number, bytes } of given) {
        const window = windowOf(content, number);
        const key = keyOf(window);
        const isThere = twin.find(key);
        const found = cache.find(window);
        expect(found !== undefined).toBe(isThere);
        if (kind === "drop") {
          if (number > 0) continue; // seldom
          cache.drop(content);
          twin.drop(content);
        } else if (found) {
          const text = kernel.bytes.subarray(found.address, found.address + window.bytes);
          expect(text.every((byte) => byte === (key & 0xff))).toBe(true);
        } else if (kind === "read") {
          cache.addRead(blobOf(window, bytes % 2), bytes, BLOBS);
          twin.addRead(key, bytes);
        } else if (kind !== "find") {
          const mayEvict = kind === "replace";
          const kept = cache.keep(window, mayEvict, loadInto(kernel, window));
          expect(kept !== undefined).toBe(twin.keep(window, mayEvict));
        }
      }
    }),
    { numRuns: 200 },
  );
});

const full = (kernel: Kernel, window: TextWindow, bytes = SLOT_BYTES): TextCache => {
  const cache = new TextCache(kernel, bytes);
  cache.addRead(blobOf(window), window.bytes, BLOBS);
  cache.keep(window, true, loadInto(kernel, window));
  return cache;
};

test("a part of a window is found, but not more than a window", () => {
  const cache = full(createKernel(), windowOf(1, 1));
  const found = ([firstBlob, endBlob]: readonly [number, number]) =>
    cache.find({ content: 1, firstBlob, endBlob })?.firstBlob;
  const asked = (
    [
      [2, 4],
      [2, 3],
      [3, 4],
      [3, 5],
      [1, 2],
      [4, 5],
    ] as const
  ).map(found);
  expect(asked).toEqual([2, 2, 2, undefined, undefined, undefined]);
});

test("a window that is longer than a slot is not cached, but one that fills a slot is", () => {
  for (const [more, isCached] of [
    [0, true],
    [1, false],
  ] as const) {
    const window = windowOf(1, 0, SLOT_BYTES + more);
    expect(full(createKernel(), window).find(window) !== undefined).toBe(isCached);
  }
});

test("if a window cannot be loaded, its slot is free for another", () => {
  const kernel = createKernel();
  const [damaged, intact] = [windowOf(1, 0), windowOf(1, 1)];
  const cache = new TextCache(kernel, SLOT_BYTES);
  for (const window of [damaged, intact]) cache.addRead(blobOf(window), window.bytes, BLOBS);
  const fails = () => {
    throw new Error("damaged");
  };
  expect(() => cache.keep(damaged, true, fails)).toThrow("damaged");
  expect(cache.find(damaged)).toBeUndefined();
  expect(cache.keep(intact, false, loadInto(kernel, intact))).toBeDefined();
  // a window that cannot be loaded is not tried again immediately
  expect(cache.keep(damaged, true, fails)).toBeUndefined();
});

test("a cache stays empty if the system has no memory for it", () => {
  const kernel = createKernel();
  const [one, other] = [windowOf(1, 0), windowOf(1, 1)];
  const noRoom = { ...kernel, reserve: () => expect.unreachable() as never };
  for (const window of [one, other]) {
    const cache = new TextCache(noRoom, 4 * SLOT_BYTES);
    cache.addRead(blobOf(window), window.bytes, BLOBS);
    expect(cache.keep(window, true, loadInto(kernel, window))).toBeUndefined();
    expect(cache.bytes).toBe(0);
  }
});

test.each([0, 1, SLOT_BYTES - 1, SLOT_BYTES, 3 * SLOT_BYTES + 1, 20 * SLOT_BYTES])(
  "the cache never takes more than %i bytes",
  (bytes) => {
    const kernel = createKernel();
    const before = kernel.bytes.length;
    const cache = new TextCache(kernel, bytes);
    expect(cache.bytes).toBeLessThanOrEqual(bytes);
    for (let content = 1; content < 9; content++)
      for (let number = 0; number < WINDOWS; number++) {
        const window = windowOf(content, number, SLOT_BYTES);
        cache.addRead(blobOf(window), SLOT_BYTES, BLOBS);
        cache.keep(window, true, () => {});
      }
    const PAGE = 65_536;
    expect(kernel.bytes.length - before).toBeLessThanOrEqual(bytes + 4 * PAGE);
  },
);
