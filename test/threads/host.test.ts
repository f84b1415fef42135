/** What only a separate process can show: that it ends, and what happens to it if a worker runs out of memory. */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { bundle } from "./bundle.ts";

let host: string;
let hasty: string;
let worker: string;

beforeAll(async () => {
  [host, hasty, worker] = (await Promise.all(
    ["host.ts", "hasty-host.ts", "worker.ts"].map(async (name) =>
      fileURLToPath(await bundle(name)),
    ),
  )) as [string, string, string];
});

const run = (flags: string[], ...args: (string | number)[]) =>
  execFileSync(process.execPath, [...flags, host, worker, ...args.map(String)], {
    encoding: "utf8",
    timeout: 280_000,
  }).trim();

test.each([0, 1, 2])("a host with %i workers waits for its task, and then ends", (size) => {
  expect(run([], size, "sleep", 300)).toBe("undefined");
});

test("a host ends even if its worker has timers", () => {
  expect(run([], 1, "dieSoon", 3_600_000)).toBe("undefined");
});

// Node sometimes kills a process that ends a thread while the thread loads native code
test.each(["end", "close", "exit"])("no worker is ended while it starts: %s", (how) => {
  const mark = join(dirname(hasty), how);
  const output = execFileSync(process.execPath, [hasty, worker, how, mark], { encoding: "utf8" });
  expect([output, existsSync(mark)]).toEqual(["1 2\n", true]);
});

// several attempts, because V8 itself sometimes aborts before it asks what to do
test("a worker that runs out of memory causes an error, and its host goes on", { retry: 3 }, () => {
  expect(run(["--max-old-space-size=64"], 1, "hog", 0)).toMatch(
    /^QuernError: worker 0 died: .*memory limit/,
  );
});
