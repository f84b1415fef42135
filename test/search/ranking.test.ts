/**
 * The engine answers the golden queries with exact counts, in the order a person would want. The first results of each
 * are in ranking.golden.txt, so that a change of ranking appears as a diff. UPDATE_GOLDEN=1 writes that file again.
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { open } from "../../src/opened-engine.ts";
import type { SearchResponse } from "../../src/search/messages/response.ts";
import { disorder, GOLDEN, indexCorpus, type Golden } from "./golden-corpus.ts";

const LISTING = fileURLToPath(new URL("ranking.golden.txt", import.meta.url));
const SHOWN = 5;

const path = mkdtempSync(join(tmpdir(), "quern-ranking-"));
const engine = await open(path, { workers: 1, warmUp: false });
await indexCorpus(engine);
afterAll(async () => {
  await engine.close();
  rmSync(path, { recursive: true, force: true });
});

const ask = ({ query, isRegexEnabled = false, isCaseSensitivityEnabled = false }: Golden) =>
  engine.search({ query, matches: 100_000, isRegexEnabled, isCaseSensitivityEnabled });

const names = ({ files }: SearchResponse): string[] =>
  files.map(({ repository, fileName }) => `${repository}/${fileName.text}`);

const nameOf = ({ query, isRegexEnabled, isCaseSensitivityEnabled }: Golden): string =>
  `${query}${isRegexEnabled ? " (regex)" : ""}${isCaseSensitivityEnabled ? " (case)" : ""}`;

const rows = GOLDEN.map((golden) => ({ name: nameOf(golden), golden }));
async function checkCounts({ golden }: { golden: Golden }): Promise<void> {
  const { stats, isSearchExhaustive, files } = await ask(golden);
  const { totalMatchCount, fileCount } = stats;
  const { totalMatchCount: matches, fileCount: count } = golden;
  expect({ totalMatchCount, fileCount }).toEqual({ totalMatchCount: matches, fileCount: count });
  expect(isSearchExhaustive).toBe(true);
  expect(files.length).toBe(fileCount);
}

async function checkOrder({ golden }: { golden: Golden }): Promise<void> {
  expect(disorder(golden, names(await ask(golden)))).toBeUndefined();
}

test("the order is asked for with definitions in it", async () => {
  const repositories = await engine.repositories();
  for (const { name, symbols } of repositories) expect(symbols.done, name).toBe(symbols.total);
  expect(repositories.some(({ symbols }) => symbols.total > 0)).toBe(true);
});

describe("counts", () => test.each(rows)("$name", checkCounts));

describe("order", () => test.each(rows)("$name", checkOrder));

const isWorthListing = ({ golden }: { golden: Golden }) => golden.fileCount > 1;

async function listing(): Promise<string> {
  const parts: string[] = [];
  for (const { name, golden } of rows.filter(isWorthListing)) {
    const files = names(await ask(golden)).slice(0, SHOWN);
    parts.push([name, ...files.map((file) => `  ${file}`)].join("\n"));
  }
  return `${parts.join("\n\n")}\n`;
}

test("the first results of each query are those of the listing", async () => {
  const now = await listing();
  if (process.env["UPDATE_GOLDEN"]) writeFileSync(LISTING, now);
  expect(now).toBe(readFileSync(LISTING, "utf8"));
  expect(now.split("\n\n").length).toBeGreaterThanOrEqual(25);
});
