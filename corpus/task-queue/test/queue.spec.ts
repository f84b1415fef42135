import { expect, test } from "vitest";
import { TaskQueue } from "../src/queue.ts";

test("runs what was enqueued, in order", async () => {
  const seen: number[] = [];
  const queue = new TaskQueue({ concurrency: 1 });
  queue.handle("count", async (task) => void seen.push(task.payload as number));
  for (const n of [1, 2, 3]) await queue.enqueue("count", n);
  queue.start();
  await expect.poll(() => seen).toEqual([1, 2, 3]);
  await queue.stop();
});

test("a delayed task waits", async () => {
  const queue = new TaskQueue();
  queue.handle("later", async () => {});
  await queue.enqueue("later", null, "1h");
  expect(await queue.size()).toBe(1);
});

test("a kind has one handler", () => {
  const queue = new TaskQueue().handle("mail", async () => {});
  expect(() => queue.handle("mail", async () => {})).toThrow("two handlers");
});
