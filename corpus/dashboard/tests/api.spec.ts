import { expect, test, vi } from "vitest";
import { ApiError, fetchQueues, isStuck } from "../src/api.ts";

const queue = { name: "mail", waiting: 1, failed: 0, oldest: "10s" };

test("a busy server is asked again", async () => {
  const fetch = vi
    .fn()
    .mockResolvedValueOnce(new Response("", { status: 503 }))
    .mockResolvedValue(Response.json([queue]));
  vi.stubGlobal("fetch", fetch);
  expect(await fetchQueues("/api")).toEqual([queue]);
  expect(fetch).toHaveBeenCalledTimes(2);
});

test("a refusal is not", async () => {
  vi.stubGlobal("fetch", vi.fn().mockResolvedValue(new Response("", { status: 401 })));
  await expect(fetchQueues("/api")).rejects.toBeInstanceOf(ApiError);
});

test.each([
  ["10s", false],
  ["5m", false],
  ["5m1s", true],
])("waiting for %s: stuck %s", (oldest, stuck) => {
  expect(isStuck({ ...queue, oldest })).toBe(stuck);
});
