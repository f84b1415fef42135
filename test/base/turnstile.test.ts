import { expect, test } from "vitest";
import { Pace } from "../../src/base/pace.ts";
import { SLICE_MS, turnstile } from "../../src/base/turnstile.ts";
import { slice } from "../../src/threads/slice.ts";

// more than once: the machine may have better things to do just then
test("of a search, a run and a task inline one goes on in a turn", { retry: 5 }, async () => {
  const pause = turnstile();
  const pace = new Pace(new AbortController().signal);
  const due = performance.now() + SLICE_MS;
  while (performance.now() < due);
  expect(pace.due).toBe(true);

  const through: string[] = [];
  const all = [
    pause()!.then(() => through.push("search")),
    pace.rest().then(() => through.push("run")),
    slice.giveWay().then(() => through.push("task")),
  ];
  const turns: number[] = [];
  const turn = () => {
    turns.push(through.length);
    if (through.length < all.length) setImmediate(turn);
  };
  setImmediate(turn);
  await Promise.all(all);
  expect(through).toEqual(["search", "run", "task"]);
  expect(turns.slice(0, 2)).toEqual([1, 2]);
  expect(pause()).toBeUndefined();
});
