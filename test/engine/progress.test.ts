/** The numbers that onProgress receives. */

import { expect, test } from "vitest";
import { directory } from "../../src/ingest/sources/directory.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { git } from "../../src/ingest/sources/git.ts";
import type { IndexProgress } from "../../src/ingest/run/report.ts";
import { repository, tempFolder } from "../ingest/listing.ts";
import { openEngine } from "./opened.ts";

/** More than one batch of a listing. */
const COUNT = 600;
const FILES = Object.fromEntries(
  Array.from({ length: COUNT }, (_, i) => [`${i}.txt`, `line of ${i}\n`.repeat(1 + (i % 9))]),
);
const BYTES = Object.values(FILES).join("").length;

const asDocuments = (content: (text: string) => string | (() => string)) =>
  documents({
    name: "r",
    files: Object.entries(FILES).map(([path, text]) => ({ path, content: content(text) })),
  });

const SOURCES = [
  { name: "directory()", make: () => directory(tempFolder(FILES)), isSizeKnown: true },
  { name: "git()", make: () => git(repository(FILES)), isSizeKnown: true },
  { name: "documents()", make: () => asDocuments((text) => text), isSizeKnown: true },
  { name: "functions", make: () => asDocuments((text) => () => text), isSizeKnown: false },
];

test.each(SOURCES)("reports list, content and publish of $name", async ({ make, isSizeKnown }) => {
  const engine = await openEngine();
  const told: IndexProgress[] = [];
  const onProgress = (progress: IndexProgress) => void told.push(progress);
  const [report] = await engine.index(make(), { symbols: "skip", words: "skip", onProgress });
  expect(report!.bytesRead).toBe(BYTES);
  const of = (stage: string) => told.filter((one) => one.stage === stage);
  for (const one of told) {
    expect(one.repository).toBe(report!.repository);
    expect(one.done).toBeLessThanOrEqual(one.total);
    expect(one.bytes).toBeLessThanOrEqual(one.totalBytes);
  }
  for (const key of ["total", "bytes", "totalBytes"] as const)
    expect(told.map((one) => one[key])).toEqual(told.map((one) => one[key]).sort((a, b) => a - b));
  for (const one of of("list")) expect(one.done).toBe(one.total);
  const listed = of("list").at(-1)!;
  expect(listed.total).toBe(COUNT);
  expect(listed.bytes).toBeLessThan(BYTES);
  expect(listed.totalBytes).toBe(isSizeKnown ? BYTES : listed.bytes);
  const all = { done: COUNT, total: COUNT, bytes: BYTES, totalBytes: BYTES };
  expect(of("content").length).toBeGreaterThan(2);
  expect(of("content").at(-1)).toMatchObject(all);
  expect(of("publish")).toMatchObject([all]);
});

test("if nothing must be read, files count as done without bytes", async () => {
  const engine = await openEngine();
  const told: IndexProgress[] = [];
  const files = ["a", "b"].map((path) => ({ path, version: "1", content: () => "one\n" }));
  const again = () => documents({ name: "d", files });
  await engine.index(again(), { symbols: "skip", words: "skip" });
  await engine.index(again(), {
    symbols: "skip",
    words: "skip",
    onProgress: (one) => void told.push(one),
  });
  const last = { repository: "d", done: 2, total: 2, bytes: 0, totalBytes: 0 };
  expect(told.map(({ stage }) => stage)).toEqual(["list", "content", "publish"]);
  for (const one of told) expect(one).toMatchObject(last);
});

test("reports the number of segments that a merge combines", async () => {
  const engine = await openEngine();
  const index = async (i: number) => {
    const told: IndexProgress[] = [];
    const files = [{ path: "a", content: `needle ${i}\n` }];
    const onProgress = (one: IndexProgress) => void told.push(one);
    await engine.index(documents({ name: `r${i}`, files }), { symbols: "skip", onProgress });
    return told.filter(({ stage }) => stage === "merge");
  };
  for (let i = 0; i < 7; i++) expect(await index(i)).toEqual([]);
  const merge = { repository: "", stage: "merge", total: 8, totalBytes: 8 * 9 };
  expect(await index(7)).toEqual([
    { ...merge, done: 0, bytes: 0 },
    { ...merge, done: 8, bytes: 8 * 9 },
  ]);
});
