import { expect, test } from "vitest";
import { turnstile } from "../../src/threads/turnstile.ts";

test("one comes through in a turn of the event loop, in order", async () => {
  const through: string[] = [];
  const [a] = ["a", "b", "c"].map((name) => turnstile.wait().then(() => through.push(name)));
  await a;
  await Promise.resolve();
  expect(through).toEqual(["a"]);
  await turnstile.wait();
  expect(through).toEqual(["a", "b", "c"]);
});

// more than once: the machine may have better things to do just then
test("a slice is due 4 ms after somebody came through", { retry: 5 }, async () => {
  await turnstile.wait();
  const start = performance.now();
  expect(turnstile.isDue()).toBe(false);
  while (!turnstile.isDue());
  expect(performance.now() - start).toBeGreaterThan(3.9);
});
