/** A cgroup limits processor time and memory, as containers do. Skipped if this process may not make cgroups. */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SHORT_LIVED } from "../short-lived.ts";
import { limited, type Limits } from "./cgroup.ts";
import { bundle, type Bundle } from "./crash/bundle.ts";
import type { Attempt, Outcome } from "./crash/disk-process.ts";
import { temporaryFolder } from "./opened.ts";

let bundled: Bundle;
beforeAll(async () => {
  bundled = await bundle("disk-process");
});
afterAll(() => bundled.remove());

/** Runs a process that tries operations. Returns a line for each of them, or the signal that killed the process. */
function tryOut(path: string, attempts: readonly Attempt[], before: readonly string[] = []) {
  const [program = "", ...words] = [
    ...before,
    process.execPath,
    ...SHORT_LIVED,
    bundled.script("disk-process"),
    path,
    "0",
    ...attempts,
  ];
  const env = { ...process.env, QUERN_THREADS: "2" };
  const { stdout, signal, stderr } = spawnSync(program, words, { env, encoding: "utf8" });
  if (signal !== null) return [signal];
  expect(stderr).toBe("");
  const outcomes = JSON.parse(stdout) as Outcome[];
  return outcomes.map(({ attempt, code, files }) => `${attempt}: ${code ?? files ?? "ok"}`);
}

const skips = "needs root and writable cgroups with limits of processor time and memory";
const enter = (limits: Limits, skip: (note: string) => never) => limited(limits) ?? skip(skips);

test("with half a core, and 256 MiB, a run and its searches are complete", ({ skip }) => {
  const before = enter({ cores: 0.5, mebibytes: 256 }, skip);
  const path = join(temporaryFolder(), "index");
  expect(tryOut(path, ["open", "small", "large", "search", "check"], before)).toEqual([
    "open: ok",
    "small: ok",
    "large: ok",
    "search: 26",
    "check: ok",
  ]);
});

test("if the kernel kills a run because of its memory, what was published stays", ({ skip }) => {
  const before = enter({ cores: 1, mebibytes: 128 }, skip);
  const path = join(temporaryFolder(), "index");
  expect(tryOut(path, ["open", "small"])).toEqual(["open: ok", "small: ok"]);
  expect(tryOut(path, ["open", "search"], before)).toEqual(["open: ok", "search: 1"]);
  expect(tryOut(path, ["open", "large"], before)).toEqual(["SIGKILL"]);
  const after = tryOut(path, ["open", "search", "check", "large", "search"]);
  expect(after).toEqual(["open: ok", "search: 1", "check: ok", "large: ok", "search: 26"]);
});
