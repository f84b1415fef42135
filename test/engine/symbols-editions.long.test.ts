/**
 * Searches that run while another engine replaces the definitions that they read by a newer edition, and deletes the
 * older one.
 */

import { setImmediate as turn } from "node:timers/promises";
import { pack, unpack } from "msgpackr";
import { expect, test } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { openEnvironment, type Environment } from "../../src/store/lmdb/environment.ts";
import { PART, segmentKey } from "../../src/store/format/format.ts";
import { readManifest } from "../../src/store/catalog/manifest.ts";
import type { SymbolsHeader } from "../../src/store/symbols/symbols.ts";
import { openDefinitions, ThreadTools } from "../../src/search/thread/reading/thread-tools.ts";
import { openEngine, temporaryFolder } from "./opened.ts";
import { RUNS } from "../runs.ts";

/** Makes stored symbols look as if another grammar had found them. */
async function age(environment: Environment): Promise<void> {
  await environment.write((writer) => {
    for (const { segment, symbols } of readManifest(writer).segments) {
      const key = segmentKey(segment, PART.SYMBOLS, symbols * 2 ** 24);
      const header = unpack(writer.get(key, "the header")!) as SymbolsHeader;
      const origins = header.origins.map((origin) => ({ ...origin, version: "of before" }));
      writer.put(key, pack({ ...header, origins }));
    }
  });
}

test("an edition that was read and has been deleted counts as deleted, not as damaged", async () => {
  const path = temporaryFolder();
  const engine = await openEngine({}, path);
  await engine.index(documents({ name: "r", files: [{ path: "a.ts", content: "let a = 1;" }] }));
  const environment = openEnvironment(path, { readOnly: false });
  const { segment } = (await environment.write(readManifest)).segments[0]!;
  const tools = new ThreadTools(true);
  const definitions = (edition: number): unknown => {
    const snapshot = environment.snapshot();
    try {
      const found = openDefinitions(snapshot, tools.open(snapshot, segment)!, edition);
      return found === "gone" ? found : found?.of(0).count;
    } finally {
      snapshot.close();
    }
  };
  expect(definitions(1)).toBe(1);
  await age(environment);
  await engine.index([]);
  await engine.index([]);
  expect([definitions(1), definitions(2), definitions(1)]).toEqual(["gone", 1, "gone"]);
  await environment.close();
});

test("an edition without lists of names is searched by the lists of the text", async () => {
  const path = temporaryFolder();
  const engine = await openEngine({}, path);
  const content = "let name = 1;\nlet other = name;\n";
  await engine.index(documents({ name: "r", files: [{ path: "a.ts", content }] }));
  const environment = openEnvironment(path, { readOnly: false });
  await environment.write((writer) => {
    const { segment, symbols } = readManifest(writer).segments[0]!;
    const key = segmentKey(segment, PART.SYMBOLS, symbols * 2 ** 24);
    const { nameBlocks, ...header } = unpack(writer.get(key, "the header")!) as SymbolsHeader;
    expect(nameBlocks).toBe(1);
    writer.put(key, pack(header));
  });
  await environment.close();
  const { stats } = await engine.search({ query: "sym:name", matches: 0 });
  expect(stats.totalMatchCount).toBe(1);
});

test("a search answers correctly from any edition", async () => {
  const path = temporaryFolder();
  const [writer, reader] = [await openEngine({}, path), await openEngine({}, path)];
  for (let i = 0; i < 4; i++) {
    const files = Array.from({ length: 30 }, (_, file) => ({
      path: `${file}.ts`,
      content: `${`// filler ${file}\n`.repeat(100)}function needle${i}() {}\n`,
    }));
    await writer.index(documents({ name: `r${i}`, files }));
  }
  const environment = openEnvironment(path, { readOnly: false });
  let [isWriting, searches] = [true, 0];
  const search = async () => {
    for (; isWriting; searches++) {
      const { stats, files } = await reader.search({ query: "sym:^needle", matches: 1000 });
      expect([stats.fileCount, stats.totalMatchCount, stats.crashes]).toEqual([120, 120, 0]);
      const symbols = files.flatMap(({ chunks }) => chunks.flatMap((one) => one.symbols ?? []));
      expect(symbols.length).toBe(120);
      await turn();
    }
  };
  const searching = search();
  for (let i = 0; i < 7 * RUNS; i++) {
    await age(environment);
    await writer.index([]); // publishes the next edition
    await writer.index([]); // deletes the previous edition
  }
  isWriting = false;
  await searching;
  await environment.close();
  expect(searches).toBeGreaterThan(5);
});
