/** The load test in short: its answers are right, and a server that takes no more says so. Figures: docs/http.md. */

import { execFile } from "node:child_process";
import { expect, test } from "vitest";
import type { LoadReport } from "../../scripts/load.ts";

/** Late event loops are no failure here: a machine that runs other tests meanwhile has them. */
function load(...flags: string[]): Promise<LoadReport> {
  const args = ["node_modules/tsx/dist/cli.mjs", "scripts/load.ts", "--json", ...flags];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, (error, stdout, stderr) => {
      if (stdout.startsWith("{")) resolve(JSON.parse(stdout) as LoadReport);
      else reject(error ?? new Error(stderr));
    });
  });
}

const KINDS = ["definitions", "explain", "list", "read", "references", "search", "stream"];

test("twenty clients get the answers that one gets", async () => {
  const { latency, errors, overloaded, loop, memory } = await load("--clients=20", "--seconds=2");
  expect([errors, overloaded]).toEqual([{}, 0]);
  expect(Object.keys(latency).sort()).toEqual(["all", ...KINDS]);
  expect(loop.busy.p99).toBeLessThan(20);
  expect(memory.samples.every((bytes) => bytes > 2 ** 20)).toBe(process.platform === "linux");
}, 120_000);

test("where less is allowed than is asked, some are told to come again, and nothing else is wrong", async () => {
  const { latency, errors, overloaded } = await load(
    "--clients=20",
    "--seconds=1",
    "--max-concurrent=2",
  );
  expect(errors).toEqual({});
  expect(overloaded).toBeGreaterThan(0);
  expect(latency["all"]?.answers).toBeGreaterThan(0);
}, 120_000);
