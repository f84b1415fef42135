/** Searches wait for a slot before they are refused. Of 200 connections, load.long.test.ts has the whole. */

import { expect, onTestFinished, test, vi } from "vitest";
import { createSlots, type Slot } from "../../src/http/slots.ts";

const identity = { principal: { kind: "anonymous", repositoryIds: "all" } } as const;

/** Returns a function that asks for a slot, and the names of those who have got one, in this order. */
function serve(maxWaiting: number) {
  const slots = createSlots({ maxConcurrent: 1, maxWaiting });
  const served: string[] = [];
  const take = async (name: string, leave = new AbortController()): Promise<Slot> => {
    const slot = await slots.take({ identity, client: "one" }, leave.signal);
    served.push(name);
    return slot;
  };
  return { take, served };
}

const REFUSED = { code: "OVERLOADED" };

test("searches wait for a slot, first come, first served", async () => {
  const { take, served } = serve(9);
  await Promise.all(["a", "b", "c", "d"].map(async (name) => (await take(name)).giveBack()));
  expect(served).toEqual(["a", "b", "c", "d"]);
});

test("a search is refused if the queue is full", async () => {
  const { take, served } = serve(1);
  const first = await take("a");
  const second = take("b");
  await expect(take("c")).rejects.toMatchObject(REFUSED);
  first.giveBack();
  (await second).giveBack();
  expect(served).toEqual(["a", "b"]);
});

test("a search that has waited for too long is refused, and leaves the queue", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { take, served } = serve(1);
  const first = await take("a");
  const late = expect(take("b")).rejects.toMatchObject(REFUSED);
  await vi.advanceTimersByTimeAsync(9_900);
  await expect(take("c")).rejects.toMatchObject(REFUSED); // b still waits
  await vi.advanceTimersByTimeAsync(200);
  await late;
  const next = take("d");
  first.giveBack();
  await next;
  expect(served).toEqual(["a", "d"]);
  expect(vi.getTimerCount()).toBe(0);
});

test("a caller that leaves gives its place in the queue to the next one", async () => {
  const { take, served } = serve(1);
  const first = await take("a");
  const leave = new AbortController();
  const left = expect(take("b", leave)).rejects.toMatchObject(REFUSED);
  leave.abort();
  await left;
  const next = take("c");
  first.giveBack();
  await next;
  expect(served).toEqual(["a", "c"]);
});

test("a slot that is given back twice admits one search", async () => {
  const { take, served } = serve(2);
  const first = await take("a");
  const [second, third] = [take("b"), take("c")];
  first.giveBack();
  first.giveBack();
  const slot = await second;
  expect(served).toEqual(["a", "b"]);
  slot.giveBack();
  await third;
});
