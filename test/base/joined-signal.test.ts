import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { JoinedSignal } from "../../src/base/joined-signal.ts";

test("the first of several signals aborts the joined one, with its reason", () => {
  const [a, b] = [new AbortController(), new AbortController()];
  using joined = new JoinedSignal([a.signal, undefined, b.signal], 60_000);
  expect(joined.signal.aborted).toBe(false);
  b.abort("why");
  a.abort("later");
  expect([joined.signal.aborted, joined.signal.reason, joined.isLate]).toEqual([
    true,
    "why",
    false,
  ]);
});

test("a signal that was already aborted aborts the joined one at once", () => {
  using joined = new JoinedSignal([new AbortController().signal, AbortSignal.abort("before")], 1);
  expect([joined.signal.aborted, joined.signal.reason]).toEqual([true, "before"]);
});

test("the time aborts the joined signal, and only that counts as late", async () => {
  const source = new AbortController();
  using joined = new JoinedSignal([source.signal], 1);
  await new Promise((resolve) => joined.signal.addEventListener("abort", resolve));
  source.abort();
  expect(joined.isLate).toBe(true);
  expect(joined.signal.reason).toMatchObject({ name: "TimeoutError" });
});

test("nothing refers to a joined signal that was disposed of or aborted, and nothing aborts it again", async () => {
  const source = new AbortController();
  const disposed = new JoinedSignal([source.signal], 1);
  disposed[Symbol.dispose]();
  disposed[Symbol.dispose]();
  using late = new JoinedSignal([source.signal], 1);
  await new Promise((resolve) => late.signal.addEventListener("abort", resolve));
  expect(getEventListeners(source.signal, "abort")).toEqual([]);
  source.abort();
  expect(disposed.signal.aborted).toBe(false);
});
