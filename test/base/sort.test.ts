import fc from "fast-check";
import { expect, test } from "vitest";
import { sortInSlices } from "../../src/base/sort.ts";

test("sorts stably, as toSorted() does", async () => {
  const items = fc.array(fc.nat(300), { maxLength: 4000, size: "max" });
  await fc.assert(
    fc.asyncProperty(items, async (keys) => {
      const given = keys.map((key, place) => ({ key, place }));
      const byKey = (a: { key: number }, b: { key: number }) => a.key - b.key;
      const sorted = await sortInSlices(given, byKey, () => undefined);
      expect(sorted).toEqual(given.toSorted(byKey));
    }),
    { numRuns: 50 },
  );
});

test("yields to the event loop while it sorts", async () => {
  const names = Array.from({ length: 50_000 }, (_, i) => (i * 7919) % 50_000);
  let [pauses, compared, most, last] = [0, 0, 0, 0];
  const compare = (a: number, b: number) => (compared++, a - b);
  const pause = () => {
    pauses++;
    most = Math.max(most, compared - last);
    last = compared;
    return undefined;
  };
  const sorted = await sortInSlices(names, compare, pause);
  expect(sorted.every((name, i) => name === i)).toBe(true);
  expect(pauses).toBeGreaterThan(500);
  expect(most).toBeLessThan(10_000);
});
