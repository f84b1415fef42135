import { expect, test } from "vitest";
import { stallOf, watchStalls, type Reading, type Stall } from "../../bench/stall.ts";

type Times = Partial<Record<"clock" | "idle" | "waited" | "worked", number>>;

const reading = ({ clock = 0, idle = 0, waited = 0, worked = 0 }: Times): Reading => ({
  at: clock,
  idle,
  waited,
  worked,
});
const show = ({ msWithWaiting, ms, msOfOurs, workedMs, ownMs }: Stall) =>
  [msWithWaiting, ms, msOfOurs, workedMs, ownMs].join(" ");

test.each<[what: string, times: Times, collected: number, shown: string]>([
  ["nothing except the millisecond between two samples", { clock: 1, idle: 1 }, 0, "0 0 0 0 0"],
  ["a computation", { clock: 21, idle: 1, worked: 20 }, 0, "20 20 20 20 20"],
  ["a wait for a core", { clock: 21, waited: 20, worked: 1 }, 0, "21 1 1 1 1"],
  ["a loop that was woken late", { clock: 21, idle: 21, waited: 20 }, 0, "0 0 0 0 0"],
  ["work after a late waking", { clock: 21, idle: 11, waited: 12, worked: 8 }, 0, "10 8 8 8 8"],
  ["a pause of the collector", { clock: 9, worked: 8 }, 6, "9 9 3 8 3"],
  ["one that waited for its helpers", { clock: 30, worked: 5 }, 28, "30 30 2 5 2"],
  ["one that waited for a core itself", { clock: 30, waited: 22, worked: 8 }, 28, "30 8 2 8 2"],
])("distinguishes %s", (_, times, collected, shown) => {
  const pauses = [{ startTime: 0, duration: collected }];
  expect(show(stallOf(reading({}), reading(times), pauses))).toBe(shown);
});

test("of a pause, only the part within the turn counts", () => {
  const pauses = [
    { startTime: -5, duration: 7 },
    { startTime: 8, duration: 7 },
    { startTime: 20, duration: 9 },
  ];
  expect(stallOf(reading({}), reading({ clock: 10 }), pauses).msOfOurs).toBe(10 - 2 - 2);
});

/** Computes for this many milliseconds of processor time, regardless of other work on the machine. */
const compute = (ms: number) => {
  const begin = process.cpuUsage();
  const worked = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1_000;
  while (worked(process.cpuUsage(begin)) < ms);
};

test.each([
  ["first", [60, 20]],
  ["last, and has just ended", [20, 60]],
])("finds the longest of several computations when it is the %s", async (_, computations) => {
  const longest = watchStalls();
  for (const ms of computations) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    compute(ms);
  }
  const { ms, msWithWaiting } = await longest();
  expect(msWithWaiting).toBeGreaterThan(50);
  expect(ms).toBeGreaterThan(30); // helpers of the process may have worked for the other milliseconds
  expect(ms).toBeLessThanOrEqual(msWithWaiting);
});

test("only stalls after the call are measured", async () => {
  compute(200);
  const { ms } = await watchStalls()();
  expect(ms).toBeLessThan(100);
});

test.runIf(process.platform === "linux")(
  "a sleeping loop is not held up, a sleeping thread is",
  async () => {
    let longest = watchStalls();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await longest()).msOfOurs).toBeLessThan(5);
    longest = watchStalls();
    await new Promise((resolve) => setTimeout(resolve, 5));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30);
    const { ms, workedMs } = await longest();
    expect(ms).toBeGreaterThan(20);
    expect(workedMs).toBeLessThan(10);
  },
);
