import { expect, test } from "vitest";
import { slice } from "../../src/threads/slice.ts";

test("one comes through in a turn of the event loop, in order", async () => {
  const through: string[] = [];
  const [a] = ["a", "b", "c"].map((name) => slice.giveWay().then(() => through.push(name)));
  await a;
  await Promise.resolve();
  expect(through).toEqual(["a"]);
  await slice.giveWay();
  expect(through).toEqual(["a", "b", "c"]);
});

// more than once: the machine may have better things to do just then
test("a slice is used up 4 ms after somebody came through", { retry: 5 }, async () => {
  await slice.giveWay();
  const start = performance.now();
  expect(slice.isUsedUp).toBe(false);
  while (!slice.isUsedUp);
  expect(performance.now() - start).toBeGreaterThan(3.9);
});
