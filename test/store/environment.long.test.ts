/** Several environments of one data directory in one process. */

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { open } from "../../src/opened-engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { MOST_OPEN, openEnvironment, openUnderLock } from "../../src/store/lmdb/environment.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "quern-environment-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const source = (text: string) =>
  documents({ name: "r", files: [{ path: "a.txt", content: text }] });

test("a reader and a writer in one process see one index, and either may close first", async () => {
  const first = await open(folder, { workers: 1 });
  await first.index(source("alpha"));
  const reader = await open(folder, { workers: 1, readOnly: true });
  const count = async (query: string) =>
    (await reader.search({ query, matches: 1 })).stats.totalMatchCount;
  expect(await count("alpha")).toBe(1);
  await first.close();
  expect(await count("alpha")).toBe(1);
  const second = await open(folder, { workers: 0 });
  await second.index(source("beta"));
  expect([await count("alpha"), await count("beta")]).toEqual([0, 1]);
  await second.close();
  expect(await count("beta")).toBe(1);
  await expect(reader.index(source("gamma"))).rejects.toMatchObject({ code: "INDEX_READ_ONLY" });
  await reader.close();
});

test("when this thread closes it, other threads are stopped before anybody else may open it", async () => {
  const environment = await openUnderLock(folder, { readOnly: false });
  const other = openEnvironment(folder, { readOnly: false });
  const seen: string[] = [];
  await other.close(async () => void seen.push(`open, turn ${existsSync(join(folder, ".turn"))}`));
  environment.snapshot().close();
  await environment.close(async () => {
    expect(() => environment.snapshot()).toThrow("closed");
    seen.push(`closed, turn ${existsSync(join(folder, ".turn"))}`);
  });
  expect(seen).toEqual(["open, turn true", "closed, turn true"]);
});

test("opening more directories than a process has room for is rejected, and closing one makes room", async () => {
  const openNext = (i: number) => openUnderLock(join(folder, `${i}`), { readOnly: false });
  const all = await Promise.all(Array.from({ length: MOST_OPEN }, (_, i) => openNext(i)));
  try {
    await expect(open(join(folder, "more"))).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringContaining("close unused engines") as string,
    });
    all.push(await openNext(0)); // opening the same directory again takes no room
    await all.splice(1, 1)[0]!.close();
    all.push(await openNext(MOST_OPEN));
  } finally {
    for (const one of all) await one.close();
  }
});
