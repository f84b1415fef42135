/** What is shared, and what is too little for that: with the real bounds, on threads. */

import { expect, test } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { LEAST_SHARED_BYTES } from "../../src/ingest/run/bounds.ts";
import { readManifest, textBytesOf, type Manifest } from "../../src/store/catalog/manifest.ts";
import { openEnvironment } from "../../src/store/lmdb/environment.ts";
import { openEngine, temporaryFolder } from "./opened.ts";

const FILE_BYTES = 4_096;
/** Half as many more as have to be shared. */
const FILES = (1.5 * LEAST_SHARED_BYTES) / FILE_BYTES;

const textOf = (kind: string, file: number): string =>
  `needle ${kind} ${file}\n`.padEnd(FILE_BYTES, `${kind} ${file} `);

/** A repository with the first files of `main`, and own ones. */
const repository = (name: string, { shared, own }: { shared: number; own: number }) =>
  documents({
    name,
    files: [
      ...Array.from({ length: shared }, (_, i) => ({
        path: `${i}.txt`,
        content: textOf("main", i),
      })),
      ...Array.from({ length: own }, (_, i) => ({
        path: `own/${i}.txt`,
        content: textOf(name, i),
      })),
    ],
  });

const ENOUGH = LEAST_SHARED_BYTES / FILE_BYTES;

test.each([
  { what: "all of it", shared: FILES, own: 1, stored: 1, borrows: 1 },
  { what: "just enough", shared: ENOUGH, own: 100, stored: 100, borrows: 1 },
  { what: "too little", shared: ENOUGH - 1, own: 100, stored: ENOUGH + 99, borrows: 0 },
  { what: "nothing", shared: 0, own: 100, stored: 100, borrows: 0 },
])("$what is shared", async ({ shared, own, stored, borrows }) => {
  const path = temporaryFolder();
  const engine = await openEngine({ workers: 1 }, path);
  await engine.index(repository("main", { shared: FILES, own: 0 }));
  await engine.index(repository("tree", { shared, own }));
  for (let round = 0; round < 4; round++) {
    const { stats } = await engine.search({ query: "needle", matches: 1 }); // later ones use what is kept in memory
    expect(stats.totalMatchCount).toBe(FILES + shared + own);
  }
  expect((await engine.check()).problems).toEqual([]);
  await engine.close();
  const manifest = manifestAt(path);
  expect(textBytesOf(manifest) / FILE_BYTES).toBe(FILES + stored);
  expect(manifest.segments.filter(({ content }) => content !== undefined).length).toBe(borrows);
});

function manifestAt(path: string): Manifest {
  const environment = openEnvironment(path, { readOnly: true });
  const snapshot = environment.snapshot();
  try {
    return readManifest(snapshot);
  } finally {
    snapshot.close();
    void environment.close();
  }
}
