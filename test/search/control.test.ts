import { expect, test } from "vitest";
import { Control, STOPPED } from "../../src/search/control.ts";

const after = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("every thread sees by itself that time is up; showing has as long again, and 250 ms at least", async () => {
  const control = Control.create(3, { matches: 10 }, { timeoutMs: 200 });
  const other = new Control(control.shared);
  expect([other.stopped, other.hasEnded]).toEqual([STOPPED.NO, false]);
  await after(250);
  expect([other.stopped, other.hasEnded]).toEqual([STOPPED.TIMED_OUT, false]);
  await after(300);
  expect(other.hasEnded).toBe(true);
});

test("an abort ends everything at once, and the reason that came first stays", () => {
  const control = Control.create(0, { matches: 10 }, {});
  control.stop(STOPPED.TIMED_OUT);
  expect([control.stopped, control.hasEnded]).toEqual([STOPPED.TIMED_OUT, false]);
  control.stop(STOPPED.ABORTED);
  expect([control.stopped, control.hasEnded]).toEqual([STOPPED.TIMED_OUT, true]);
});

test("ranges are taken as long as some are left", () => {
  const control = Control.create(1, { matches: 10 }, {});
  expect([7, 7, 7].map((wanted) => control.takeRanges(wanted))).toEqual([7, 3, 0]);
});

test("segments are begun once, and steps taken once", () => {
  const control = Control.create(2, { matches: 0 }, {});
  expect([1, 2, 3].map(() => control.claimSegment())).toEqual([0, 1, 2]);
  control.open(1);
  expect(control.isOpen(1)).toBe(true);
  expect([1, 2, 3].map(() => control.claimStep(1, 2))).toEqual([0, 1, undefined]);
  expect(control.isOpen(1)).toBe(false);
});
