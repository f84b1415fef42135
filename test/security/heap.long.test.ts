/**
 * Content of a process's memory that it does not store never reaches the disk, although LMDB's pages come from the same
 * heap.
 */

import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../engine/opened.ts";
import { bundledPrograms } from "../programs.ts";

const [PROCESS] = await bundledPrograms(["test/security/heap-process.ts"]);
const WORD = "a-secret-of-the-host-";

test("freed memory does not reach the data directory", () => {
  const path = temporaryFolder();
  const args = [PROCESS!, path, WORD];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  const found = readdirSync(path).filter((file) => readFileSync(join(path, file)).includes(WORD));
  expect(found).toEqual([]);
});
