/**
 * A limit counts the time that the thread has worked, if the system reports it. In the end, it also reads the clock.
 */

import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createExtractor, LIMITS, type Extraction } from "../../../src/ingest/symbols/extract.ts";
import { languageQuery } from "../../../src/ingest/symbols/languages.ts";
import { openWorked, startLimit, type Times } from "../../../src/ingest/symbols/work-limit.ts";

/**
 * Returns times in which the clock advances by `stepMs` with each reading, and the thread has a core for this share of
 * the time.
 */
function planted(share: number | undefined, stepMs: number) {
  const looks = { clock: 0, worked: 0 };
  const times: Times = {
    clock: () => stepMs * ++looks.clock,
    worked() {
      looks.worked++;
      return share === undefined ? undefined : share * stepMs * looks.clock;
    },
  };
  return { times, looks };
}

describe("a limit of 100 ms", () => {
  test.each<[having: string, share: number | undefined, ms: number]>([
    ["its own core", 1, 101],
    ["half a core", 1 / 2, 200],
    ["a fifth of a core", 1 / 5, 500],
    ["a fifteenth of a core, until the clock's limit", 1 / 15, 1001],
    ["no core at all", 0, 1001],
    ["a system that does not report work", undefined, 101],
  ])("ends with %s at the expected time of the clock, after few readings", (_, share, ms) => {
    const { times, looks } = planted(share, 1);
    const isOver = startLimit(100, times);
    while (!isOver());
    expect(looks.clock - 1).toBe(ms);
    expect(looks.worked).toBeLessThan(25);
    expect(isOver()).toBe(true);
  });

  test("does not read the work while the clock has time left", () => {
    const { times, looks } = planted(1, 1);
    const isOver = startLimit(100, times);
    for (let look = 0; look < 100; look++) expect(isOver()).toBe(false);
    expect(looks.worked).toBe(1);
  });
});

describe("a file that takes, by the clock,", () => {
  const source = readFileSync("corpus/languages/sample.ts");
  const extract = async (times: Times): Promise<Extraction> => {
    const extractor = await createExtractor(LIMITS, languageQuery, times);
    await extractor.prepare("TypeScript");
    return extractor.extract("TypeScript", source);
  };
  const gaveUp: Extraction = { outcome: "gave-up", reason: "too-long" };
  let whole: Extraction;
  let looks: number;

  beforeAll(async () => {
    const still = planted(1, 0);
    whole = await extract(still.times);
    looks = still.looks.clock;
    expect(whole.outcome).toBe("symbols");
  });

  test.each<[limits: number, share: number | undefined, has: "symbols" | "nothing"]>([
    [0.9, 1, "symbols"],
    [5, 1, "nothing"],
    [5, 0.1, "symbols"],
    [5, undefined, "nothing"],
    [9, 0, "symbols"],
    [20, 0, "nothing"],
  ])("%f times its limit, with %f of a core, has %s", async (limits, share, has) => {
    const { times } = planted(share, (limits * LIMITS.maxMs) / looks);
    expect(await extract(times)).toEqual(has === "symbols" ? whole : gaveUp);
  });
});

describe("the work of a thread", () => {
  const plant = (threadCpuUsage: typeof process.cpuUsage | undefined) => {
    const real = Object.getOwnPropertyDescriptor(process, "threadCpuUsage");
    onTestFinished(() => {
      if (real) Object.defineProperty(process, "threadCpuUsage", real);
      else Reflect.deleteProperty(process, "threadCpuUsage");
    });
    Object.defineProperty(process, "threadCpuUsage", { value: threadCpuUsage, configurable: true });
  };

  test("is user and system time in Node, in milliseconds", () => {
    plant(() => ({ user: 2_000, system: 500 }));
    expect(openWorked()()).toBe(2.5);
  });

  test.runIf("threadCpuUsage" in process)("counts work and not sleep in Node itself", () =>
    expectWork(openWorked()),
  );

  test.runIf(process.platform === "linux")("counts work and not sleep in the kernel", () => {
    plant(undefined);
    expectWork(openWorked());
  });
});

/**
 * Checks the work of the calling thread: it grows with work, by no more than the process has worked, and not during
 * sleep.
 */
function expectWork(worked: Times["worked"]): void {
  const before = { ms: worked()!, process: process.cpuUsage() };
  while (worked()! < before.ms + 30);
  const { user, system } = process.cpuUsage(before.process);
  const busy = worked()! - before.ms;
  expect(busy).toBeLessThan((user + system) / 1000 + 11); // a tick of the scheduler
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  expect(worked()! - before.ms - busy).toBeLessThan(50);
}
