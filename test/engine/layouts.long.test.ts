/**
 * Segments with pages and blocks of different sizes in one directory: each is read by its own sizes, and a merged
 * segment has the values that it would have if all had been indexed in its layout.
 */

import { crc32 } from "node:zlib";
import { expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { RUN_BOUNDS } from "../../src/ingest/run/bounds.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { readManifest } from "../../src/store/catalog/manifest.ts";
import {
  LAYOUT,
  PART,
  partOfKey,
  segmentRange,
  type Layout,
} from "../../src/store/format/format.ts";
import { openEnvironment } from "../../src/store/lmdb/environment.ts";
import { readHeader } from "../../src/store/segments/segment-tables.ts";
import { checkEnvironment } from "../../src/store/upkeep/check.ts";
import { openEngine, SMALL_LAYOUT, temporaryFolder } from "./opened.ts";
import { someOf } from "../runs.ts";

/** A file of some pages, with names and characters that fold at all places of a page. */
const contentOf = (name: string): string =>
  Array.from({ length: 300 }, (_, i) => {
    const text = i % 7 === 0 ? "straſse \u212a" : `plain${i}`;
    return `function ${name}${i}() { return "${text}"; }\n`;
  }).join("");

const source = (name: string, others: readonly string[] = []) =>
  documents({
    name,
    files: [name, ...others].map((one) => ({ path: `${one}.ts`, content: contentOf(one) })),
  });

const QUERIES = ["first299", "second0", "STRASSE", "sym:second150", "plain5", "t28 or d111"];

async function answers(engine: Engine): Promise<string[]> {
  const found: string[] = [];
  for (const query of QUERIES) {
    const { files, stats } = await engine.search({ query, matches: 1e5 });
    found.push(`${query}: ${stats.totalMatchCount}`);
    expect(stats.crashes).toBe(0);
    for (const { repository, fileName, chunks } of files)
      found.push(`${repository} ${fileName.text} ${JSON.stringify(chunks)}`);
  }
  for (const name of ["first", "second"])
    found.push((await engine.read({ repository: name, path: `${name}.ts` }))!.content);
  return found;
}

/** Runs `use` with an engine that writes in this layout. It borrows content even if little is shared. */
async function within<T>(
  path: string,
  { layout, workers }: { readonly layout: Layout; readonly workers: number },
  use: (engine: Engine) => Promise<T>,
): Promise<T> {
  const runs = { ...RUN_BOUNDS, leastSharedBytes: 1 };
  const engine = await openEngine({ workers, internals: { layout, retireMs: 0, runs } }, path);
  const result = await use(engine);
  await engine.close();
  return result;
}

const sizesOf = ({ pageBytes, blockBytes }: Layout): Layout => ({ pageBytes, blockBytes });

/**
 * Returns the layout of each segment, and each key of the first one, without its number, with a checksum of its value.
 */
async function storedIn(path: string) {
  const environment = openEnvironment(path, { readOnly: true });
  expect((await checkEnvironment(environment)).problems).toEqual([]);
  const snapshot = environment.snapshot();
  const { segments } = readManifest(snapshot);
  const headers = segments.map(({ segment }) => readHeader(snapshot, segment)!);
  const keys = snapshot.keys(segmentRange(segments[0]!.segment));
  const values = Array.from(keys, (one) => Buffer.from(one)).map((key) => {
    const value = snapshot.get(key, "a value")!;
    return `${partOfKey(key)} ${key.subarray(6).toString("hex")} ${value.length} ${crc32(value)}`;
  });
  snapshot.close();
  await environment.close();
  const layouts = headers.map(sizesOf);
  return { layouts, values };
}

const SMALL_BLOCKS: Layout = { ...LAYOUT, blockBytes: 5000 };

test.each(
  someOf(
    [
      { from: SMALL_LAYOUT, to: LAYOUT, workers: 0 },
      { from: LAYOUT, to: SMALL_LAYOUT, workers: 0 },
      { from: SMALL_BLOCKS, to: LAYOUT, workers: 0 },
      { from: SMALL_LAYOUT, to: LAYOUT, workers: 2 },
    ],
    2,
  ),
)("from $from to $to, $workers workers", async ({ from, to, workers }) => {
  const [mixed, plain] = [temporaryFolder(), temporaryFolder()];
  const before = await within(plain, { layout: to, workers }, async (engine) => {
    await engine.index(source("first"));
    await engine.index(source("second"));
    return answers(engine);
  });
  await within(mixed, { layout: from, workers }, (engine) => engine.index(source("first")));
  const both = await within(mixed, { layout: to, workers }, async (engine) => {
    await engine.index(source("second"));
    return answers(engine);
  });
  expect(both).toEqual(before);
  expect((await storedIn(mixed)).layouts).toEqual([from, to].map(sizesOf));
  for (const path of [plain, mixed])
    await within(path, { layout: to, workers }, async (engine) => {
      await engine.compact();
      expect(await answers(engine)).toEqual(before);
    });
  const merged = await storedIn(mixed);
  expect(merged.layouts).toEqual([sizesOf(to)]);
  expect(merged.values).toEqual((await storedIn(plain)).values);
  expect(merged.values.some((value) => value.startsWith(`${PART.NAMES} `))).toBe(true);
});

test("a segment that borrows has its lender's layout", async () => {
  const path = temporaryFolder();
  await within(path, { layout: SMALL_LAYOUT, workers: 0 }, (engine) =>
    engine.index(source("first", ["second"])),
  );
  const found = await within(path, { layout: LAYOUT, workers: 0 }, async (engine) => {
    await engine.index(source("second"));
    return answers(engine);
  });
  const { layouts } = await storedIn(path);
  expect(layouts).toEqual([SMALL_LAYOUT, SMALL_LAYOUT].map(sizesOf));
  await within(path, { layout: LAYOUT, workers: 0 }, async (engine) => {
    await engine.compact();
    expect(await answers(engine)).toEqual(found);
  });
  expect((await storedIn(path)).layouts).toEqual([LAYOUT]);
});
