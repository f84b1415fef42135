/** Compares maps that grow in small steps with a Map. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { IdMap, partOf, WideMap } from "../../src/base/wide-map.ts";

const never = (): undefined => undefined;

test("with strings as keys, behaves like a Map", () => {
  const key = fc.oneof(fc.string({ maxLength: 3 }), fc.string({ minLength: 14, maxLength: 20 }));
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.nat())), fc.array(key), (entries, others) => {
      const [wide, plain] = [new WideMap<number>(), new Map<string, number>()];
      for (const [one, value] of entries) {
        wide.set(one, value);
        plain.set(one, value);
      }
      for (const one of [...plain.keys(), ...others]) expect(wide.get(one)).toBe(plain.get(one));
    }),
  );
});

test.each<[string, (n: number) => string]>([
  ["numbered", (n) => `github.com/acme/repository-${n}`],
  ["in groups", (n) => `group-${n % 100}/repository-${n}`],
  ["short", (n) => n.toString(36)],
  ["the same end", (n) => `${n}/main`],
])("no part holds much more than its share: %s", (_, nameOf) => {
  const counts = new Map<number, number>();
  for (let n = 0; n < 100_000; n++) {
    const part = partOf(nameOf(n));
    counts.set(part, (counts.get(part) ?? 0) + 1);
  }
  expect(Math.max(...counts.values())).toBeLessThan(4 * (100_000 / 128));
});

test("with ids as keys, behaves like a Map, also after a copy was changed", async () => {
  const ids = fc.uniqueArray(fc.nat(60)).map((all) => all.toSorted((a, b) => a - b));
  await fc.assert(
    fc.asyncProperty(ids, fc.nat(60), async (all, other) => {
      const plain = new Map(all.map((id) => [id, `v${id}`]));
      const map = await IdMap.from(plain, 61, never);
      const changed = map.with(all.slice(0, 2).map((id) => [id, "new"]));
      const changedPlain = new Map(plain);
      for (const id of all.slice(0, 2)) changedPlain.set(id, "new");
      for (const [got, want] of [
        [map, plain],
        [changed, changedPlain],
      ] as const) {
        expect([...got]).toEqual([...want]);
        expect([[...got.keys()], [...got.values()]]).toEqual([
          [...want.keys()],
          [...want.values()],
        ]);
        expect([got.size, got.get(other), got.has(other)]).toEqual([
          want.size,
          want.get(other),
          want.has(other),
        ]);
        const visited: unknown[] = [];
        got.forEach((value, id, whole) => visited.push([id, value, whole === got]));
        expect(visited).toEqual(Array.from(want, ([id, value]) => [id, value, true]));
      }
      for (const id of [-1, 0.5, 61, 1e9, Number.NaN]) expect(map.get(id)).toBe(undefined);
    }),
  );
});
