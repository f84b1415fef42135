/** Looks up paths in a segment, in any order, and compares with a look at every file. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { loadCatalog } from "../../src/store/catalog/catalog.ts";
import { findFiles } from "../../src/store/catalog/repository-files.ts";
import { openEnvironment } from "../../src/store/lmdb/environment.ts";
import { openSegment } from "../../src/store/segments/segment-reader.ts";
import { pathOf } from "../../src/store/segments/segment-tables.ts";
import { openEngine, temporaryFolder } from "../engine/opened.ts";

const pathNamed = (number: number): string => `${"abc"[number % 3]}/${number}.txt`;
const HIGHEST = 150;

test("paths are found in any order", async () => {
  const folder = temporaryFolder();
  const engine = await openEngine({}, folder);
  const files = Array.from({ length: 50 }, (_, i) => ({ path: pathNamed(3 * i), content: `${i}` }));
  const others = Array.from({ length: 50 }, (_, i) => ({ path: pathNamed(2 * i), content: "" }));
  await engine.index([
    documents({ name: "before", files: others }),
    documents({ name: "own", files }),
    documents({ name: "behind", files: others }),
  ]);
  await engine.close();
  const environment = openEnvironment(folder, { readOnly: true });
  const snapshot = environment.snapshot();
  const pause = () => undefined;
  const { headers, repositories } = await loadCatalog(snapshot, undefined, pause);
  const [, own] = [...repositories.values()];
  const [place] = own!.places;
  const { segment, first, count } = place!;
  expect([own!.places.length, count, first]).toEqual([1, 50, 50]);
  const paths = openSegment(snapshot, segment)!.paths(snapshot);
  const stored = Array.from({ length: count }, (_, i) =>
    Buffer.from(pathOf(paths, first + i)).toString(),
  );
  const lists = fc.array(fc.integer({ min: -2, max: HIGHEST + 2 }).map(pathNamed), {
    maxLength: 40,
  });
  const check = async (wanted: readonly string[]) => {
    const found = await findFiles({ snapshot, headers, pause }, place!, wanted);
    const expected = wanted.map((path) => (stored.includes(path) ? [stored.indexOf(path)] : []));
    expect(found.map((one) => one.map(({ index }) => index))).toEqual(expected);
  };
  await fc.assert(fc.asyncProperty(lists, check), { numRuns: 200 });
  snapshot.close();
  await environment.close();
});
