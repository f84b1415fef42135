import { describe, expect, test } from "vitest";
import type { RunOptions } from "../../src/threads/pool.ts";
import { SLOWNESS } from "../slowness.ts";
import { caught, INGEST, open, SEARCH } from "./pools.ts";

describe.each([0, 1, 2])("with %i workers", (size) => {
  test("tasks for one worker and lane run one after another, in order", async () => {
    const pool = open(size);
    const log: unknown[] = [];
    const options: RunOptions = { ...SEARCH, worker: 0, onMessage: (line) => log.push(line) };
    const names = ["a", "b", "c", "d"];
    await Promise.all(names.map((name) => pool.run("log", name, options)));
    expect(log).toEqual(names.flatMap((name) => [`${name} begins`, `${name} ends`]));
  });

  test("urgent tasks run before other waiting tasks", async () => {
    const pool = open(size);
    const log: unknown[] = [];
    const run = (name: string, isUrgent: boolean) => {
      const onMessage = (line: unknown) => log.push(line);
      return pool.run("log", name, { ...SEARCH, worker: 0, isUrgent, onMessage });
    };
    await Promise.all([run("a", false), run("b", false), run("c", true), run("d", true)]);
    const began = log.filter((line) => String(line).endsWith("begins"));
    expect(began).toEqual(["c", "d", "a", "b"].map((name) => `${name} begins`));
  });

  test("an ingest task that pauses lets searches run", async () => {
    const pool = open(size);
    let isDone = false;
    const ingest = Promise.all(
      Array.from({ length: pool.lanes }, () => pool.run<number>("spin", 300, INGEST)),
    ).finally(() => (isDone = true));
    let answered = 0;
    while (!isDone) await pool.run("echo", answered++, SEARCH);
    expect(answered).toBeGreaterThan(2); // one waits until the end if nothing pauses
    expect(Math.min(...(await ingest))).toBeGreaterThan(1);
  });

  test("10 000 tasks leave nothing in memory", async () => {
    const pool = open(size);
    const batch = async () => {
      const runs = Array.from({ length: 5000 }, (_, i) => pool.run<number>("echo", i, SEARCH));
      return (await Promise.all(runs)).every((value, i) => value === i);
    };
    expect(await batch()).toBe(true);
    const before = process.memoryUsage().heapUsed;
    expect(await batch()).toBe(true);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(16 * 2 ** 20);
  });
});

test("a task runs on the requested worker", async () => {
  const pool = open(3);
  const wanted = Array.from({ length: 30 }, (_, i) => i % 3);
  const runs = wanted.map((worker) => pool.run("worker", 0, { ...SEARCH, worker }));
  expect(await Promise.all(runs)).toEqual(wanted);
  expect(await caught(pool.run("worker", 0, { ...SEARCH, worker: 3 }))).toMatchObject({
    code: "INTERNAL",
  });
});

test("no task waits for a busy worker while another is idle", async () => {
  const pool = open(2);
  const slow = pool.run("sleep", 2000, { ...SEARCH, worker: 0 });
  const runs = Array.from({ length: 20 }, () => pool.run("worker", 0, SEARCH));
  expect(await Promise.all(runs)).toEqual(runs.map(() => 1));
  void caught(slow);
});

test("a worker's search lane never pauses", async () => {
  expect(await open(1).run("spin", 30, SEARCH)).toBe(0);
});

test("the event loop turns at least every 5 ms, however many tasks run", async () => {
  const pools = [open(0), open(0)];
  const runs = pools.flatMap((pool) => [SEARCH, INGEST].map((lane) => pool.run("spin", 300, lane)));
  let isDone = false;
  void Promise.all(runs).then(() => (isDone = true));
  const turns: number[] = []; // milliseconds of processor time, because the machine may have other work
  for (let before = process.cpuUsage(); !isDone; before = process.cpuUsage()) {
    await new Promise(setImmediate);
    turns.push(process.cpuUsage(before).user / 1000);
  }
  turns.sort((a, b) => a - b);
  expect(turns.length).toBeGreaterThan(5);
  // the median turn, because V8's own threads also work during some turns
  expect(turns[turns.length >> 1]).toBeLessThan(5 * SLOWNESS);
});
