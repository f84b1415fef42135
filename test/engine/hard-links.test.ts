/** Hard links: in a source, each name is a file; a data directory of hard links is no copy, and is not written. */

import { linkSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { directory } from "../../src/ingest/sources/directory.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import type { Engine } from "../../src/engine.ts";
import { openEngine, temporaryFolder } from "./opened.ts";

const source = (name: string) =>
  documents({ name, files: [{ path: "a.txt", content: `needle of ${name}\n` }] });
const countIn = async (engine: Engine): Promise<number> =>
  (await engine.search({ query: "needle", matches: 9 })).stats.totalMatchCount;

/** Does what `cp -al` does. */
function linkAll(from: string, to: string): void {
  for (const name of readdirSync(from, { recursive: true, encoding: "utf8" })) {
    if (statSync(join(from, name)).isDirectory()) mkdirSync(join(to, name), { recursive: true });
    else linkSync(join(from, name), join(to, name));
  }
}

test("a data directory of hard links is read, but not written", async () => {
  const [path, copy] = [temporaryFolder(), temporaryFolder()];
  const engine = await openEngine({}, path);
  await engine.index(source("a"));
  linkAll(path, copy);
  const refused = { code: "INVALID_REQUEST", message: expect.stringContaining("2 hard links") };
  await expect(openEngine({}, copy)).rejects.toMatchObject(refused);
  const reader = await openEngine({ readOnly: true }, copy);
  expect(await countIn(reader)).toBe(1);
  await reader.close();
  await engine.close();
  await expect(openEngine({}, path)).rejects.toMatchObject(refused);
  rmSync(copy, { recursive: true });
  const again = await openEngine({}, path);
  await again.index(source("b"));
  expect(await countIn(again)).toBe(2);
});

test("each name of a file in a folder is indexed", async () => {
  const folder = temporaryFolder();
  const outside = join(temporaryFolder(), "outside.txt");
  writeFileSync(outside, "needle outside\n");
  linkSync(outside, join(folder, "a.txt"));
  linkSync(outside, join(folder, "b.txt"));
  const engine = await openEngine();
  await engine.index(directory(folder, { name: "linked" }));
  expect(await countIn(engine)).toBe(2);
});
