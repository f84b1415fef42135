import { expect, test } from "vitest";
import { newPause, Slice, SLICE_MS, yieldTurn } from "../../src/base/yield.ts";

const spin = (ms: number): void => {
  const due = performance.now() + ms;
  while (performance.now() < due);
};

// several attempts, because the machine may be busy with other work
test("one of three loops continues in each turn, in order", { retry: 5 }, async () => {
  const pause = newPause();
  const slice = new Slice();
  spin(SLICE_MS);
  expect(slice.isOver).toBe(true);
  const through: string[] = [];
  const all = [
    pause()!.then(() => through.push("pause")),
    slice.rest().then(() => through.push("slice")),
    yieldTurn().then(() => through.push("turn")),
  ];
  const turns: number[] = [];
  const turn = () => {
    turns.push(through.length);
    if (through.length < all.length) setImmediate(turn);
  };
  setImmediate(turn);
  await Promise.all(all);
  expect(through).toEqual(["pause", "slice", "turn"]);
  expect(turns.slice(0, 2)).toEqual([1, 2]);
  expect(pause()).toBeUndefined();
});

test("a slice ends after its time, and rest() begins a new one", { retry: 5 }, async () => {
  await yieldTurn(); // earlier work in this turn counts
  const slice = new Slice({ ms: 4 });
  const start = performance.now();
  expect(slice.isOver).toBe(false);
  while (!slice.isOver);
  expect(performance.now() - start).toBeGreaterThan(3.9);
  await slice.rest();
  expect(slice.isOver).toBe(false);
});

test("loops that run one after another in a turn share its slice", { retry: 5 }, async () => {
  await yieldTurn();
  expect(new Slice().isOver).toBe(false);
  spin(SLICE_MS);
  expect(new Slice().isOver).toBe(true);
  await newPause()();
  expect(new Slice().isOver).toBe(false);
  spin(SLICE_MS);
  await new Promise((turn) => setImmediate(turn));
  expect(new Slice().isOver).toBe(false);
});

test("rest() rejects if the signal is aborted before it or during it", async () => {
  const controller = new AbortController();
  const slice = new Slice({ signal: controller.signal });
  const resting = slice.rest();
  controller.abort();
  await expect(resting).rejects.toMatchObject({ code: "ABORTED" });
  await expect(slice.rest()).rejects.toMatchObject({ code: "ABORTED" });
});
