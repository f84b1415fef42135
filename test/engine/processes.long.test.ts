/**
 * Several processes on one directory: readers during a write, writers that wait, that stop and that lose their lease,
 * and readers that die.
 */

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { openEnvironment } from "../../src/store/lmdb/environment.ts";
import { bundle, type Bundle } from "./crash/bundle.ts";
import { digestOf } from "./crash/digest.ts";
import { apply, operation, ROUND, stateAfter, type State } from "./crash/operations.ts";
import { stateOfProcess } from "./crash/process-state.ts";
import type { Moment, Step } from "./crash/steps.ts";
import { runWriter, startWriter, told } from "./crash/writer.ts";
import { openEngine, temporaryFolder } from "./opened.ts";
import { SHORT_LIVED } from "../short-lived.ts";
import { isInTurn, someOf } from "../runs.ts";

let bundled: Bundle;
beforeAll(async () => {
  bundled = await bundle("writer-process", "reader-process", "holder-process", "opener-process");
});
afterAll(() => bundled.remove());

const writerOf = (path: string) =>
  ({ script: bundled.script("writer-process"), path, first: 0, end: ROUND, workers: 2 }) as const;

function start(script: string, path: string): ChildProcess {
  const child = spawn(process.execPath, [...SHORT_LIVED, bundled.script(script), path], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

const digest = ({ repositories }: State): string =>
  digestOf(
    [...repositories].flatMap(([name, its]) =>
      [...its].map(([path, content]) => [name, path, content] as const),
    ),
  );

test.runIf(isInTurn(3))(
  "processes that open and close one directory at once, a new one at first",
  async () => {
    const path = temporaryFolder();
    const told = await Promise.all(
      [0, 1, 2].map(() => text(start("opener-process", path).stdout!)),
    );
    expect(told).toEqual(["", "", ""]);
    expect(readdirSync(join(path, "index"))).not.toContain(".turn");
  },
);

test("the lock file of a killed process is ignored", async () => {
  const path = temporaryFolder();
  writeFileSync(join(path, ".turn"), "");
  const begun = performance.now();
  await (await openEngine({}, path)).close();
  expect(performance.now() - begun).toBeGreaterThan(1000);
  expect(readdirSync(path)).not.toContain(".turn");
});

test("a stale lock file that cannot be removed, as on a read-only disk, is ignored", async () => {
  const path = temporaryFolder();
  mkdirSync(join(path, ".turn")); // no user may remove it
  utimesSync(join(path, ".turn"), 0, 0);
  expect(await (await openEngine({}, path)).repositories()).toEqual([]);
});

/**
 * Returns the states that may be published, with their places in the order. A state may occur twice, because a
 * repository is added and removed. A call publishes its repositories one by one, in any order.
 */
function published(operations: number): Map<string, number[]> {
  const positions = new Map<string, number[]>();
  const add = (state: State, place: number) => {
    const key = digest(state);
    positions.set(key, [...(positions.get(key) ?? []), place]);
  };
  for (let i = 0; i <= operations; i++) {
    const state = stateAfter(i);
    add(state, 2 * i);
    const change = operation(i);
    if (change.kind !== "index" || i === operations) continue;
    for (const one of change.repositories)
      add(apply(state, { kind: "index", repositories: new Map([one]) }), 2 * i + 1);
  }
  // a compaction changes nothing, so the states before and after it are equal
  return positions;
}

test.runIf(isInTurn(3, 1))(
  "while a writer runs, readers answer from one published state after another",
  async () => {
    const path = temporaryFolder();
    await runWriter({ ...writerOf(path), end: 1 });
    const readers = [0, 1].map(() => start("reader-process", join(path, "index")));
    const answers = readers.map(({ stdout }) => text(stdout!));
    await Promise.all(readers.map(({ stdout }) => once(stdout!, "data"))); // each reader has seen the first state
    const end = 1 + ROUND;
    const { done } = await runWriter({
      ...writerOf(path),
      first: 1,
      end,
      workers: 0,
      retireMs: 50,
    });
    expect(done).toBe(end);
    for (const { stdin } of readers) stdin!.end();
    const positions = published(end);
    for (const answer of await Promise.all(answers)) {
      const seen = answer.trim().split("\n");
      let last = 0;
      for (const line of seen) {
        const place = positions.get(line)?.find((one) => one >= last);
        expect(place, `what is published after place ${last} ${line}`).toBeDefined();
        last = place!;
      }
      expect(new Set(seen).size).toBeGreaterThan(1);
    }
  },
);

/** Starts a writer that stops itself at this moment while it holds the lease. */
async function stopped(path: string, step: Step): Promise<ChildProcess> {
  const moment: Moment = { how: "stop committed", step, nth: 1 };
  const child = startWriter({ ...writerOf(path), log: join(path, "steps"), moment });
  onTestFinished(() => void child.kill("SIGKILL"));
  for (let i = 0; stateOfProcess(child.pid!) !== "T"; i++) {
    if (i > 10_000) throw new Error(`the writer has not stopped at ${step}`);
    await sleep(10);
  }
  return child;
}

const other = () => documents({ name: "other", files: [{ path: "a", content: "by another" }] });

test("a second writer is rejected, or waits until the first has finished", async () => {
  const path = temporaryFolder();
  const child = await stopped(path, "published");
  const [hasty, patient] = [
    await openEngine({}, join(path, "index")),
    await openEngine({ lockTimeoutMs: 30_000 }, join(path, "index")),
  ];
  const refused = hasty.index(other());
  await expect(refused).rejects.toMatchObject({ code: "INDEX_LOCKED" });
  await expect(refused).rejects.toThrow(`process ${child.pid} is writing`);
  const waiting = patient.index(other());
  await sleep(100);
  expect((await hasty.repositories()).map(({ name }) => name)).not.toContain("other");
  child.kill("SIGCONT");
  await waiting;
  expect((await hasty.repositories()).map(({ name }) => name)).toContain("other");
  child.kill("SIGKILL");
});

/** Resolves to everything that is stored, byte for byte. */
function stored(path: string): Promise<string> {
  const environment = openEnvironment(path, { readOnly: true });
  const snapshot = environment.snapshot();
  const keys = [...snapshot.keys([Buffer.from([0]), Buffer.from([255])])].map((key) =>
    Buffer.from(key),
  );
  const lines = keys.map((key) => {
    const value = Buffer.from(snapshot.getSealed(key)!).toString("latin1");
    return [key.toString("hex"), "", value] as const;
  });
  snapshot.close();
  return environment.close().then(() => digestOf(lines));
}

// stopped.test.ts has every step, without threads
test.each(someOf(["segment complete", "symbols written"] as const, 2))(
  "a writer whose threads were stopped at '%s' writes nothing after it has lost its lease",
  async (step) => {
    const path = temporaryFolder();
    const child = await stopped(path, step);
    const index = join(path, "index");
    const real = Date.now.bind(Date);
    const clock = vi.spyOn(Date, "now").mockImplementation(() => real() + 31_000);
    const engine = await openEngine({}, index);
    await engine.index(other());
    clock.mockRestore();
    const before = await stored(index);
    const words = text(child.stdout!);
    child.kill("SIGCONT");
    await once(child, "close");
    expect(told(await words, 0).failed).toMatch(/^INDEX_LOCKED: .*taken over/);
    expect(await stored(index)).toBe(before);
    expect((await engine.check()).problems).toEqual([]);
  },
);

test("a killed reader does not keep old pages for ever", async () => {
  const path = temporaryFolder();
  const engine = await openEngine({ internals: { retireMs: 0 } }, path);
  const update = (i: number) =>
    engine.index(
      documents({ name: "r", files: [{ path: "a", content: `${i} of them\n`.repeat(40_000) }] }),
      { symbols: "skip" },
    );
  await update(0);
  const reader = start("holder-process", path);
  await once(reader.stdout!, "data");
  reader.kill("SIGKILL");
  await once(reader, "close");
  const bytes = () => statSync(join(path, "quern.mdb")).size;
  for (let i = 1; i < 8; i++) await update(i);
  await engine.compact();
  const before = bytes();
  for (let i = 8; i < 24; i++) await update(i);
  expect(bytes()).toBeLessThan(before + 4 * 2 ** 20);
});
