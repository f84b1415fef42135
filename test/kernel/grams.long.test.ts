/** Compares the grams of pages and their lists with slow twins. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { foldCodePoint } from "../../src/kernel/folding.ts";
import { createGramLists } from "../../src/kernel/gram-lists.ts";
import { BYTE_CLASSES, GRAM_LIMIT, gramNumber, gramsOf } from "../../src/kernel/gram-numbers.ts";
import { createKernel } from "../../src/kernel/kernel.ts";
import { text } from "./random-text.ts";

const PAGE = 600;
const lists = createGramLists(createKernel(), PAGE);

// slow twin: folds valid UTF-8, and keeps other bytes
function foldBytes(text: Uint8Array): { folded: Buffer; changed: boolean } {
  const out: Buffer[] = [];
  let changed = false;
  for (let at = 0; at < text.length;) {
    const length = [1, 2, 3, 4].find((size) => isOneCharacter(text.subarray(at, at + size), size));
    const bytes = Buffer.from(text.subarray(at, at + (length ?? 1)));
    const point = length ? bytes.toString().codePointAt(0)! : undefined;
    const folded = point === undefined ? undefined : foldCodePoint(point);
    if (point !== undefined && folded !== point && point >= 0x80) changed = true;
    out.push(folded === undefined ? bytes : Buffer.from(String.fromCodePoint(folded)));
    at += length ?? 1;
  }
  return { folded: Buffer.concat(out), changed };
}

function isOneCharacter(bytes: Uint8Array, size: number): boolean {
  if (bytes.length !== size) return false;
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return Array.from(text).length === 1;
  } catch {
    return false;
  }
}

/** Returns the pages that contain each gram, by ascending gram. */
function pagesByGram(pages: readonly Uint8Array[]): [number, number[]][] {
  const found = new Map<number, number[]>();
  pages.forEach((page, number) => {
    for (const gram of gramsOf(foldBytes(page).folded)) {
      const known = found.get(gram);
      if (known) known.push(number);
      else found.set(gram, [number]);
    }
  });
  return [...found].sort(([a], [b]) => a - b);
}

function decodeGaps(gaps: Uint8Array): number[] {
  const pages: number[] = [];
  let [page, value, shift] = [-1, 0, 0];
  for (const byte of gaps) {
    value |= (byte & 0x7f) << shift;
    shift += 7;
    if (byte > 0x7f) continue;
    pages.push((page += value));
    [value, shift] = [0, 0];
  }
  return pages;
}

test("lists name the pages that contain a gram, by ascending gram, and the flag says whether folding changes the page", () => {
  fc.assert(
    fc.property(fc.array(text, { maxLength: 6 }), (pages) => {
      lists.clear();
      pages.forEach((page, number) => {
        expect(lists.add(page), `flag of page ${number}`).toBe(foldBytes(page).changed);
      });
      const got: [number, number[]][] = [];
      lists.forEach((gram, gaps) => got.push([gram, decodeGaps(gaps)]));
      expect(got).toEqual(pagesByGram(pages));
    }),
    { numRuns: 500 },
  );
});

test("a list may be longer than a block of the arena, with gaps of two bytes", () => {
  lists.clear();
  const want: number[] = [];
  for (let page = 0; page < 4000; page++) {
    const isHere = page % 7 === 0 || (page > 3000 && page % 300 === 0);
    if (isHere) want.push(page);
    lists.add(Buffer.from(isHere ? "xyz" : "no"));
  }
  const got: number[][] = [];
  lists.forEach((_, gaps) => got.push(decodeGaps(gaps)));
  expect(got).toEqual([want]);
});

/** Returns random pages. A linear congruential generator makes them the same in every run. */
function pagesOf(count: number, bytesOf: (random: number) => number): Buffer[] {
  let state = 1;
  const next = () => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) >>> 8;
  return Array.from({ length: count }, () =>
    Buffer.from(Uint8Array.from({ length: PAGE }, () => bytesOf(next()))),
  );
}

const ASCII_PAGES = pagesOf(40, (random) => random % 0x80);
const ANY_PAGES = pagesOf(40, (random) => random & 0xff);

test.each([
  ["ASCII", ASCII_PAGES],
  ["any bytes", ANY_PAGES],
  ["ASCII before any bytes", [...ASCII_PAGES, ...ANY_PAGES]],
])("tables may grow and move, among other regions: %s", (_, pages) => {
  const kernel = createKernel();
  const own = createGramLists(kernel, PAGE);
  const others: number[] = [];
  const reserve = () => {
    const at = kernel.reserve(100);
    expect(kernel.bytes.subarray(at, at + 100).every((byte) => byte === 0)).toBe(true);
    kernel.bytes.fill(0xa5, at, at + 100);
    others.push(at);
  };
  const want = pagesByGram(pages);
  expect(want.length).toBeGreaterThan(4_096); // slots, before they move
  const addAll = () => {
    pages.forEach((page, number) => {
      if (number % 3 === 0) reserve();
      own.add(page);
    });
    reserve();
    const got: [number, number[]][] = [];
    own.forEach((gram, gaps) => got.push([gram, decodeGaps(gaps)]));
    expect(got).toEqual(want);
    return own.bytes;
  };
  const first = addAll();
  for (let round = 0; round < 2; round++) {
    own.clear();
    const size = kernel.bytes.length;
    expect(addAll()).toBe(first);
    expect(kernel.bytes.length - size).toBeLessThan(3 * 65_536);
  }
  for (const at of others)
    expect(kernel.bytes.subarray(at, at + 100).every((byte) => byte === 0xa5)).toBe(true);
});

test("a small index takes little memory, even with text beyond ASCII", () => {
  const kernel = createKernel();
  const own = createGramLists(kernel, PAGE);
  own.add(Buffer.from("hello world"));
  expect(kernel.bytes.length).toBeLessThan(2 ** 20 + 2 ** 19);
  own.add(Buffer.from("grüße"));
  expect(kernel.bytes.length).toBeLessThan(20 * 2 ** 20);
});

test("memory is reused after clear()", () => {
  const fill = () => {
    lists.clear();
    for (let page = 0; page < 50; page++)
      lists.add(Buffer.from(`page ${page} ${"abc ".repeat(100)}`));
    return lists.bytes;
  };
  const first = fill();
  for (let round = 0; round < 5; round++) expect(fill()).toBe(first);
});

test("every gram has its own number, below the limit", () => {
  const seen = new Set<number>();
  const representatives = [...new Set(BYTE_CLASSES)].map((of) => BYTE_CLASSES.indexOf(of));
  for (const a of representatives.filter((_, i) => i % 9 === 0))
    for (const b of representatives) for (const c of representatives) seen.add(gramNumber(a, b, c));
  const firsts = representatives.filter((_, i) => i % 9 === 0).length;
  expect(seen.size).toBe(firsts * representatives.length ** 2);
  expect(Math.max(...[...seen].slice(-1000))).toBeLessThan(GRAM_LIMIT);
});

test("letters of both cases are one class, and other ASCII characters are one class", () => {
  expect(gramNumber(65, 66, 67)).toBe(gramNumber(97, 98, 99));
  expect(gramNumber(32, 33, 10)).toBe(gramNumber(45, 62, 0));
  expect(gramNumber(95, 95, 95)).not.toBe(gramNumber(45, 45, 45));
});
