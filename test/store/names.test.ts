/** Compares lookups in sorted names with a scan of all of them. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { compareText } from "../../src/base/compare.ts";
import {
  asciiFolded,
  changeNames,
  orderNames,
  placeAfter,
  placesContaining,
  type Named,
  type Names,
} from "../../src/store/catalog/names.ts";

const name = fc.oneof(
  fc.string({ maxLength: 6, unit: fc.constantFrom("a", "b", "A", "/", "é", "\u212a", "k", "İ") }),
  fc.string({ maxLength: 6, unit: "grapheme" }),
);
const lists = fc
  .uniqueArray(fc.record({ name, displayName: fc.option(name, { nil: undefined }) }), {
    maxLength: 30,
    selector: (one) => one.name,
  })
  .map((all) => all.map((one, i): Named => ({ ...one, id: i + 1 })));

const holds = ({ name: own, displayName = "" }: Named, part: string) =>
  [own, displayName].some((text) => text.toLowerCase().includes(part.toLowerCase()));

const held = (names: Names, part: string, from: number): number[] =>
  [...placesContaining(names, part, from)].filter((place) => place !== undefined);

test("a page equals a filter of the sorted list", async () => {
  await fc.assert(
    fc.asyncProperty(lists, name, fc.option(name, { nil: undefined }), async (all, part, after) => {
      const names = await orderNames(all, all.length + 1, () => undefined);
      const sorted = all.toSorted((a, b) => compareText(a.name, b.name));
      expect(names.ordered).toEqual(sorted);
      sorted.forEach(({ id, name: own }, place) => {
        expect([names.places[id], names.byName.get(own)]).toEqual([place, id]);
        expect(names.byFolded.get(asciiFolded(own))).toContain(id);
      });
      const from = after === undefined ? 0 : placeAfter(names, after);
      const found = held(names, part, from).map((place) => sorted[place]!.name);
      const wanted = sorted
        .filter((one) => after === undefined || compareText(one.name, after) > 0)
        .filter((one) => part.includes("\0") === false && holds(one, part));
      expect(found).toEqual(wanted.map((one) => one.name));
    }),
  );
});

const lookedUp = (names: Names, all: readonly Named[]) =>
  all.map(({ name: own }) => [
    names.byName.get(own),
    names.byFolded.get(asciiFolded(own))?.toSorted((a, b) => a - b),
  ]);

test("names after changes equal those of sorting all names", async () => {
  const changed = fc.tuple(
    lists,
    fc.infiniteStream(fc.nat({ max: 3 })),
    fc.constantFrom(1, 3, 150),
  );
  await fc.assert(
    fc.asyncProperty(changed, async ([given, fates, copies]) => {
      const all = Array.from({ length: copies }, (_, copy) =>
        given.map((one): Named => ({
          ...one,
          id: copy * given.length + one.id,
          name: `${one.name}${copy % 7}/${copy}`,
        })),
      ).flat();
      const end = all.length + 1;
      const fate = new Map(all.map((one) => [one.id, fates.next().value]));
      const before = all.filter(({ id }) => fate.get(id) !== 0);
      const gone = all.filter(({ id }) => (fate.get(id) ?? 0) > 1 + (copies > 3 ? 1 : 0));
      const kept = before.filter((one) => !gone.includes(one));
      const again = gone
        .filter(({ id }) => id % 2 === 0)
        .map((one) => ({ ...one, displayName: "new" }));
      const arrived = [...all.filter(({ id }) => fate.get(id) === 0), ...again];
      const made = changeNames(
        await orderNames(before, end, () => undefined),
        { gone, arrived },
        end,
      );
      const right = await orderNames([...kept, ...arrived], end, () => undefined);
      expect(made.ordered).toEqual(right.ordered);
      for (const { id } of right.ordered) expect(made.places[id]).toBe(right.places[id]);
      expect(lookedUp(made, all)).toEqual(lookedUp(right, all));
      for (const part of ["a", "/1", "new", ""])
        expect(held(made, part, 0)).toEqual(held(right, part, 0));
      expect(Math.max(0, ...made.texts.map(({ starts }) => starts.length - 1))).toBeLessThanOrEqual(
        2048,
      );
    }),
    { numRuns: 40 },
  );
});

test("names that match several texts are found in order, each once", async () => {
  const all = Array.from({ length: 5_000 }, (_, i) => ({ id: i + 1, name: `aa/${i % 7}aa/${i}` }));
  const names = await orderNames(all, all.length + 1, () => undefined);
  for (const [part, from] of [
    ["aa", 0],
    ["AA/1", 1_023],
    ["/4999", 0],
    ["3aa", 2_048],
    ["none", 0],
  ] as const) {
    const wanted = names.ordered.flatMap((one, place) =>
      place >= from && holds(one, part) ? [place] : [],
    );
    expect(held(names, part, from), part).toEqual(wanted);
  }
});

test.each([
  ["shop", "SHOP", true],
  ["kit", "\u212aIT", true],
  ["sea", "\u017fea", true],
  ["shop", "shop2", false],
])("asciiFolded(%j) and of %j: %s", (a, b, equal) => {
  expect(asciiFolded(a) === asciiFolded(b)).toBe(equal);
});
