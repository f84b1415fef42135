/**
 * The load test in short: its answers are right, and a server that accepts no more requests says so. docs/http.md has
 * figures.
 */

import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { CORPUS } from "../../scripts/build-corpus.ts";
import type { LoadReport } from "../../scripts/load.ts";
import { bundledPrograms } from "../programs.ts";
import { isInTurn } from "../runs.ts";

// the script runs in a separate file, because it would otherwise take the program's start for its own
const [PROGRAM] = await bundledPrograms(["scripts/load.ts", "scripts/build-corpus.ts"]);

/** Runs the load test. A late event loop is not a failure here, because other tests may run on the machine. */
function load(...flags: string[]): Promise<LoadReport> {
  const args = [PROGRAM!, "--json", ...flags];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, (error, stdout, stderr) => {
      if (stdout.startsWith("{")) resolve(JSON.parse(stdout) as LoadReport);
      else reject(error ?? new Error(stderr));
    });
  });
}

/** The folder of two small repositories, in languages that the questions ask for. */
const FEW = mkdtempSync(join(tmpdir(), "quern-load-"));
afterAll(() => rmSync(FEW, { recursive: true, force: true }));
for (const name of ["duration", "ledger"])
  cpSync(join(CORPUS, name), join(FEW, name), { recursive: true });

const KINDS = ["definitions", "explain", "list", "read", "references", "search", "stream"];

/** Runs the load test, longer if a busy machine has not reached all kinds of questions. */
async function loadOfAllKinds(seconds = 1): Promise<LoadReport> {
  const flags = ["--clients=20", "--warm-up=0", `--seconds=${seconds}`, `--corpus=${FEW}`];
  const report = await load(...flags);
  const isWhole = KINDS.every((kind) => kind in report.latency);
  return isWhole || seconds > 16 ? report : loadOfAllKinds(4 * seconds);
}

test.runIf(isInTurn(3))(
  "twenty clients get the same answers as one client, and each promise gets a verdict",
  async () => {
    const { latency, errors, overloaded, loop, memory, verdicts } = await loadOfAllKinds();
    expect([errors, overloaded]).toEqual([{}, 0]);
    expect(Object.keys(latency).sort()).toEqual(["all", ...KINDS]);
    const [p50, p99, most] = loop.late;
    expect([0 < most, p50 <= p99, p99 <= most]).toEqual([true, true, true]);
    expect(loop.busy[1]).toBeLessThan(20);
    expect(memory.samples.every((bytes) => bytes > 2 ** 20)).toBe(process.platform === "linux");
    expect(verdicts.slice(0, 2).map(({ isKept }) => isKept)).toEqual([true, true]);
    expect(verdicts.length).toBe(4);
  },
);

test.runIf(isInTurn(3, 1))(
  "if the server allows fewer requests than arrive, some are told to retry, and nothing else fails",
  async () => {
    const flags = [
      "--clients=20",
      "--warm-up=0",
      "--seconds=0.5",
      "--max-concurrent=2",
      "--max-waiting=2",
    ];
    const { latency, errors, overloaded } = await load(...flags, `--corpus=${FEW}`);
    expect(errors).toEqual({});
    expect(overloaded).toBeGreaterThan(0);
    expect(latency["all"]?.answers).toBeGreaterThan(0);
  },
);

test.runIf(isInTurn(3, 2))(
  "200 connections share the slots of one server, and no short search is refused",
  async () => {
    const limits = ["--clients=200", "--max-concurrent=64", "--warm-up=0", "--seconds=5"];
    const { latency, errors, overloaded } = await load(...limits, `--corpus=${FEW}`);
    expect([errors, overloaded]).toEqual([{}, 0]);
    expect(latency["all"]!.answers).toBeGreaterThan(200);
  },
);
