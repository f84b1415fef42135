import { expect, test } from "vitest";
import { stallOf, watchStalls, type Stall } from "../../bench/stall.ts";

test.each<[string, number, number, Stall]>([
  ["nothing, but for the millisecond between two looks", 1, 0, { ms: 0, msWithWaiting: 0 }],
  ["a computation", 21, 0, { ms: 20, msWithWaiting: 20 }],
  ["a wait for a core", 21, 20, { ms: 0, msWithWaiting: 20 }],
  ["some of both", 21, 5, { ms: 15, msWithWaiting: 20 }],
  ["a wait that is counted a little late", 1, 3, { ms: 0, msWithWaiting: 0 }],
])("a stall by %s", (_, between, waited, want) => {
  expect(stallOf(between, waited)).toEqual(want);
});

test.each([
  ["first", [60, 20]],
  ["last, and has just ended", [20, 60]],
])("of several computations the longest is seen, when it is the %s", async (_, computations) => {
  const longest = watchStalls();
  for (const ms of computations) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    for (const end = performance.now() + ms; performance.now() < end;);
  }
  const { ms, msWithWaiting } = await longest();
  expect(msWithWaiting).toBeGreaterThan(50);
  expect(ms).toBeGreaterThan(10); // the rest of the 60, other processes may have had the core
  expect(ms).toBeLessThanOrEqual(msWithWaiting);
});

test("only stalls since the call are seen", async () => {
  for (const end = performance.now() + 200; performance.now() < end;);
  const { ms } = await watchStalls()();
  expect(ms).toBeLessThan(100);
});
