/** Compares lists of repositories, stored as columns, with maps. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { RepositoryList } from "../../src/store/catalog/repository-list.ts";
import { repositoryListOf } from "./repository-lists.ts";

const ids = fc.uniqueArray(fc.nat({ max: 30 }), { maxLength: 20 });
const maps = fc.dictionary(fc.nat({ max: 30 }).map(String), fc.integer({ min: 1, max: 4 }));
const mapOf = (record: Record<string, number>): Map<number, number> =>
  new Map(Object.entries(record).map(([id, changed]) => [Number(id), changed]));
const ascending = (map: Map<number, number>): [number, number][] =>
  [...map].sort(([a], [b]) => a - b);

test("a list with changes equals a map with the same changes", () => {
  fc.assert(
    fc.property(maps, ids, ids, (given, arrived, gone) => {
      const leaving = gone.filter((id) => !arrived.includes(id));
      const map = mapOf(given);
      const list = repositoryListOf(map).with({ arrived, gone: leaving }, 9);
      for (const id of leaving) map.delete(id);
      for (const id of arrived) map.set(id, 9);
      expect([...list]).toEqual(ascending(map));
      for (let id = 0; id <= 31; id++) expect(list.get(id)).toBe(map.get(id));
    }),
  );
});

test("applying the differences between two lists to the first gives the second", () => {
  fc.assert(
    fc.property(maps, maps, (before, after) => {
      const [old, list] = [before, after].map((one) => repositoryListOf(mapOf(one)));
      const { arrived, gone } = list!.since(old!);
      expect(arrived).toEqual(
        ascending(mapOf(after)).flatMap(([id, at]) => (mapOf(before).get(id) === at ? [] : [id])),
      );
      const made = old!.with({ arrived, gone }, (id) => list!.get(id)!);
      expect(Array.from(made)).toEqual([...list!]);
      expect(list!.equals(old!)).toBe(arrived.length + gone.length === 0);
    }),
  );
});

test("lists without a common repository are joined", () => {
  fc.assert(
    fc.property(maps, fc.integer({ min: 1, max: 4 }), (given, count) => {
      const all = ascending(mapOf(given));
      const parts = Array.from({ length: count }, (_, part) =>
        repositoryListOf(all.filter((_pair, i) => (i * 7) % count === part)),
      );
      expect([...RepositoryList.union(parts)]).toEqual(all);
    }),
  );
});
