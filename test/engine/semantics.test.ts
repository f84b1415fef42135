/** What a search returns for one file, written by hand. The same rows test the oracle; here they test the engine. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { open } from "../../src/opened-engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import type { FileResult, SearchRequest } from "../../src/index.ts";
import { sourceOf } from "../oracle/corpus-source.ts";
import { compareFiles } from "../oracle/oracle.ts";
import {
  CORPUS,
  FILES,
  printFiles,
  SETS,
  bytesOf,
  CHUNKS,
  PATH,
  printChunks,
  printRanges,
  RANGES,
} from "../oracle/rows.ts";

/** Each content, without repetition, becomes a repository named `r`, which is the only one that a viewer sees. */
const contents = [...new Set([...RANGES, ...CHUNKS].map(([, content]) => keyOf(content)))];

function keyOf(content: string | number[]): string {
  return Buffer.from(bytesOf(content)).toString("hex");
}

let engine: Engine;
/** An engine with CORPUS. */
let corpusEngine: Engine;
const ids = new Map<string, number>();

beforeAll(async () => {
  engine = await open(mkdtempSync(join(tmpdir(), "quern-semantics-")), { workers: 0 });
  const sources = contents.map((key, i) =>
    documents({ name: `r${i}`, files: [{ path: PATH, content: Buffer.from(key, "hex") }] }),
  );
  const path = mkdtempSync(join(tmpdir(), "quern-semantics-"));
  corpusEngine = await open(path, { workers: 0, contexts: SETS });
  await corpusEngine.index(CORPUS.repositories.map(sourceOf), { symbols: "skip" });
  const reports = await engine.index(sources, { symbols: "skip" });
  for (const { repository, repositoryId } of reports)
    ids.set(contents[Number(repository.slice(1))]!, repositoryId);
});

afterAll(async () => {
  for (const one of [engine, corpusEngine]) {
    await one.close();
    rmSync(one.path, { recursive: true, force: true });
  }
});

/** Resolves to the file as search and stream show it, which must be the same. */
async function ask(
  content: string | number[],
  request: Partial<SearchRequest> & { query: string },
): Promise<FileResult | undefined> {
  const viewer = { repositoryIds: new Set([ids.get(keyOf(content))!]) };
  const { files } = await engine.search({ matches: 1e9, ...request }, { viewer });
  const streamed: FileResult[] = [];
  for await (const event of engine.stream({ matches: 1e9, ...request }, { viewer }))
    if (event.type === "chunk") streamed.push(...event.files);
  expect(streamed).toEqual(files);
  return files[0];
}

/** Whether a row is only for the oracle, whose file has no language and whose repository has another name. */
const isOfTheOracle = ([query]: readonly [string, ...unknown[]]): boolean =>
  /lang:|repo:/.test(query);

test.each(RANGES.filter((row) => !isOfTheOracle(row)))(
  "ranges: %j in %j",
  async (query, content, want, more) => {
    expect(printRanges(await ask(content, { query, ...more }))).toBe(want);
  },
);

test.each(CHUNKS)("chunks: %j in %.30j, %i context lines", async (query, content, lines, want) => {
  const file = await ask(content, { query, contextLines: lines });
  expect(printChunks(file!)).toEqual(want);
});

/** No file of the corpus defines the names that these rows search with `sym:`. */
test.each(FILES.filter(([query]) => !query.startsWith("sym:")))(
  "files: %s",
  async (query, want) => {
    const { files } = await corpusEngine.search({ query, matches: 1e9 });
    expect(printFiles(files.toSorted(compareFiles))).toBe(want);
  },
);
