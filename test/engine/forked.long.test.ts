/** A host that forks, uses node:cluster, or opens an index on several of its threads. */

import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SHORT_LIVED } from "../short-lived.ts";
import { bundle, type Bundle } from "./crash/bundle.ts";
import { temporaryFolder } from "./opened.ts";

let bundled: Bundle;
beforeAll(async () => {
  bundled = await bundle("forking-process");
});
afterAll(() => bundled.remove());

test("forked processes, workers of a cluster, and threads share a data directory", () => {
  const command = [...SHORT_LIVED, bundled.script("forking-process"), temporaryFolder()];
  const { stdout, stderr } = spawnSync(process.execPath, command, { encoding: "utf8" });
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual({
    wrong: [],
    codes: [0, 0, 0],
    repositories: ["cluster", "fork", "host", "thread"],
    files: 4,
    problems: [],
  });
});
