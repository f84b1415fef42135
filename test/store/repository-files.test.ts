/** Looks up paths in a segment, in any order, and compares with a look at every file. */

import fc from "fast-check";
import { expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { loadCatalog } from "../../src/store/catalog/catalog.ts";
import { findFiles } from "../../src/store/catalog/repository-files.ts";
import { PART, segmentKey } from "../../src/store/format/format.ts";
import { openEnvironment } from "../../src/store/lmdb/environment.ts";
import { openSegment } from "../../src/store/segments/segment-reader.ts";
import { pathOf } from "../../src/store/segments/segment-tables.ts";
import { openEngine, temporaryFolder } from "../engine/opened.ts";

const pathNamed = (number: number): string => `${"abc"[number % 3]}/${number}.txt`;
const HIGHEST = 150;

const numbered = (step: number, contentOf: (file: number) => string) =>
  Array.from({ length: 50 }, (_, i) => ({ path: pathNamed(step * i), content: contentOf(i) }));

/** Indexes a repository between two others. */
async function withOwnFiles(engine: Engine): Promise<void> {
  const others = numbered(2, () => "");
  await engine.index([
    documents({ name: "before", files: others }),
    documents({ name: "own", files: numbered(3, String) }),
    documents({ name: "behind", files: others }),
  ]);
}

/** Does the same with borrowed files, except for every tenth. */
async function withBorrowedFiles(engine: Engine): Promise<void> {
  const files = numbered(3, (i) => `${i}\n`.repeat(4_000));
  const main = files.map((one, i) => (i % 10 === 0 ? { ...one, path: `other/${i}.txt` } : one));
  await engine.index(documents({ name: "main", files: main }));
  await engine.index(["before", "own", "behind"].map((name) => documents({ name, files })));
}

test.each([
  { what: "its own", index: withOwnFiles, stored: 150, borrows: false },
  { what: "borrowed", index: withBorrowedFiles, stored: 15, borrows: true },
])("paths that are $what are found in any order", async ({ index, stored: entries, borrows }) => {
  const folder = temporaryFolder();
  const engine = await openEngine({}, folder);
  await index(engine);
  await engine.close();
  const environment = openEnvironment(folder, { readOnly: true });
  const snapshot = environment.snapshot();
  const pause = () => undefined;
  const { headers, repositories } = await loadCatalog(snapshot, undefined, pause);
  const own = [...repositories.values()].find(({ record }) => record.name === "own");
  const [place] = own!.places;
  const { segment, first, count } = place!;
  expect([own!.places.length, count, first]).toEqual([1, 50, 50]);
  expect(headers.get(segment)!.content !== segment).toBe(borrows);
  expect(snapshot.get(segmentKey(segment, PART.FILES), "files")!.length).toBe(7 * entries);
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
