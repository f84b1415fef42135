/** Compares triples of classes with a slow twin. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { Arena } from "../../src/kernel/arena.ts";
import { createKernel } from "../../src/kernel/kernel.ts";
import { tripleTables, type Triple } from "../../src/regex/required-classes.ts";

const kernel = createKernel();
const arena = new Arena(kernel);

const SETS: readonly (readonly number[])[] = [
  [97, 98], // ab
  [97, 122],
  [48, 57, 65, 90],
  [95, 95],
  [0, 127],
  [10, 10, 127, 127],
];

const cases = fc.record({
  text: fc.uint8Array({ maxLength: 200 }).map((bytes) =>
    // mostly bytes of the sets, and some bytes beyond ASCII
    bytes.map((byte) => (byte < 200 ? Buffer.from("ab_Z1\n\x7f\0")[byte % 8]! : byte)),
  ),
  sets: fc.tuple(fc.constantFrom(...SETS), fc.constantFrom(...SETS), fc.constantFrom(...SETS)),
  ends: fc.uniqueArray(fc.nat(200), { maxLength: 8 }),
});

function scan(text: Uint8Array, regions: number[][], triple: Triple, room: number) {
  const mark = arena.mark();
  const at = arena.put(Buffer.concat([Buffer.alloc(64, 95), text, Buffer.alloc(64, 95)])) + 64;
  const table = Uint32Array.from(regions.flat(), (place) => at + place);
  const list = arena.put(new Uint8Array(table.buffer));
  const sets = arena.put(tripleTables(triple));
  const out = arena.take(4 * room);
  const count = kernel.run.scanTriples(list, regions.length, sets, out, room);
  const places = Array.from(
    { length: Math.max(count, 0) },
    (_, i) => kernel.words[(out >>> 2) + i]! - at,
  );
  arena.release(mark);
  return { count, places };
}

function naive(text: Uint8Array, regions: number[][], triple: Triple): number[] {
  const isIn = (set: readonly number[], byte: number) =>
    set.some((low, i) => i % 2 === 0 && byte >= low && byte <= set[i + 1]!);
  return regions.flatMap(([from, to]) =>
    Array.from({ length: Math.max(0, to! - from! - 2) }, (_, i) => from! + i).filter((place) =>
      triple.every((set, i) => isIn(set, text[place + i]!)),
    ),
  );
}

test("finds triples in any text, any regions and any sets", () => {
  fc.assert(
    fc.property(cases, ({ text, sets, ends }) => {
      const bounds = ends.map((end) => end % (text.length + 1)).sort((a, b) => a - b);
      const regions = bounds.flatMap((end, i) => (i % 2 === 1 ? [[bounds[i - 1]!, end]] : []));
      const want = naive(text, regions, sets);
      expect(scan(text, regions, sets, 200).places).toEqual(want);
      if (want.length > 0) expect(scan(text, regions, sets, want.length - 1).count).toBe(-1);
    }),
    { numRuns: 2_000 },
  );
});
