import { afterEach, expect, test, vi } from "vitest";
import { Control, STOPPED } from "../../src/search/messages/control.ts";

afterEach(() => void vi.restoreAllMocks());

/** Milliseconds, and what is seen after them: [stopped, hasEnded]. */
const TIMES: readonly (readonly [
  timeoutMs: number,
  seen: readonly (readonly [number, ...unknown[]])[],
])[] = [
  [
    500,
    [
      [399, STOPPED.NO, false],
      [401, STOPPED.TIMED_OUT, false],
      [501, STOPPED.TIMED_OUT, true],
    ],
  ],
  [
    10_000,
    [
      [9_799, STOPPED.NO, false],
      [9_801, STOPPED.TIMED_OUT, false],
      [10_001, STOPPED.TIMED_OUT, true],
    ],
  ],
  [Infinity, [[1e9, STOPPED.NO, false]]],
];

test.each(TIMES)(
  "every thread notices by itself when %i ms are over, and a fifth, at most 200 ms, is reserved for showing",
  (timeoutMs, seen) => {
    const real = performance.now();
    const clock = vi.spyOn(performance, "now").mockReturnValue(real);
    const control = Control.create(3, { matches: 10 }, { timeoutMs });
    const other = new Control(control.shared);
    for (const [ms, ...expected] of seen) {
      clock.mockReturnValue(real + ms);
      expect([other.stopped, other.hasEnded], `${ms} ms`).toEqual(expected);
    }
  },
);

test("an abort ends everything immediately, and the first reason is kept", () => {
  const control = Control.create(0, { matches: 10 }, {});
  control.stop(STOPPED.TIMED_OUT);
  expect([control.stopped, control.hasEnded]).toEqual([STOPPED.TIMED_OUT, false]);
  control.stop(STOPPED.ABORTED);
  expect([control.stopped, control.hasEnded]).toEqual([STOPPED.TIMED_OUT, true]);
});

test("ranges are granted until none are left", () => {
  const control = Control.create(1, { matches: 10 }, {});
  expect([7, 7, 7].map((wanted) => control.takeRanges(wanted))).toEqual([7, 3, 0]);
});

test("each segment is begun by one thread, and each step is done by one thread", () => {
  const control = Control.create(2, { matches: 0 }, {});
  const other = new Control(control.shared);
  expect([control.claimSegment(1), other.claimSegment(1)]).toEqual([true, false]);
  expect([other.claimSegment(0), other.stepsLeft(1)]).toEqual([true, 0]);
  control.open(1, 5);
  expect([other.stepsLeft(0), other.stepsLeft(1)]).toEqual([0, 5]);
  // the owner begins with the first step, and a helper with the last
  const steps = [true, true, false, true, false, false, true].map((isOwner) => [
    (isOwner ? control : other).claimStep(1, isOwner),
    other.stepsLeft(1),
  ]);
  expect(steps.map(([step]) => step)).toEqual([0, 1, 4, 2, 3, undefined, undefined]);
  expect(steps.map(([, left]) => left)).toEqual([4, 3, 2, 1, 0, 0, 0]);
  control.restart();
  expect(control.claimSegment(1)).toBe(true);
});

test("threads that finish add the number of ranges they found, up to what a word can hold", () => {
  const control = Control.create(1, { matches: 10 }, {});
  const other = new Control(control.shared);
  const found = [control.addFound(7), other.addFound(0), other.addFound(4)];
  expect(found).toEqual([7, 7, 11]);
  expect([control.addFound(2 ** 31), other.addFound(1)]).toEqual([2 ** 31 - 1, 2 ** 31 - 1]);
});
