/** Compares sets of pages with slow twins. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { createKernel } from "../../src/kernel/kernel.ts";

const kernel = createKernel();
const PAGES = 1000;
const BYTES = 128;
const [a, b] = [kernel.reserve(BYTES), kernel.reserve(BYTES)];
const list = kernel.reserve(8000);

const pageSet = fc
  .uniqueArray(fc.nat(PAGES - 1), { maxLength: 300 })
  .map((set) => set.sort((x, y) => x - y));

// slow twin: one gap after another
function gapsOf(pages: readonly number[]): number[] {
  let before = -1;
  return pages.flatMap((page) => {
    let gap = page - before;
    before = page;
    const bytes: number[] = [];
    for (; gap > 0x7f; gap >>>= 7) bytes.push((gap & 0x7f) | 0x80);
    return [...bytes, gap];
  });
}

function decode(bytes: readonly number[], at = a, pages = PAGES): number {
  kernel.bytes.fill(0, at, at + BYTES);
  kernel.bytes.set(bytes, list);
  return kernel.run.decodeGaps(list, bytes.length, pages, at);
}

function pagesIn(at: number): number[] {
  return Array.from({ length: PAGES }, (_, page) => page).filter(
    (page) => (kernel.bytes[at + (page >>> 3)]! >>> (page & 7)) & 1,
  );
}

test("decoding gaps gives the pages, and encoding the pages gives the gaps", () => {
  fc.assert(
    fc.property(pageSet, (pages) => {
      expect(decode(gapsOf(pages))).toBe(pages.length);
      expect(pagesIn(a)).toEqual(pages);
      const length = kernel.run.encodeGaps(a, PAGES, list);
      expect([...kernel.bytes.subarray(list, list + length)]).toEqual(gapsOf(pages));
      expect(kernel.run.countBits(a, BYTES)).toBe(pages.length);
    }),
  );
});

test.each<[name: string, bytes: number[]]>([
  ["a zero gap", [1, 0]],
  ["a page past the last one", [0x80 | 0x69, 7]], // 1001 - 1 = page 1000
  ["a varint cut short", [0x80]],
  ["a varint of more than 32 bits", [0xff, 0xff, 0xff, 0xff, 0x10]],
  ["a varint of six bytes", [0x80, 0x80, 0x80, 0x80, 0x80, 0x01]],
  ["a gap that would wrap around", [5, 0xff, 0xff, 0xff, 0xff, 0x0f]],
])("%s violates the format", (_, bytes) => {
  expect(decode(bytes)).toBe(-1);
});

test("any bytes decode to ascending pages or violate the format, and nothing is written outside the set", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      kernel.bytes.fill(0, b, b + BYTES);
      const count = decode([...bytes]);
      if (count >= 0) expect(pagesIn(a)).toHaveLength(count);
      expect(pagesIn(b)).toEqual([]);
    }),
  );
});
