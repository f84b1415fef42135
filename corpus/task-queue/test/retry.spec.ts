import { expect, test, vi } from "vitest";
import { backoffDelay, RetryError, retryWithBackoff } from "../src/retry.ts";

test("returns the first success", async () => {
  const operation = vi.fn().mockRejectedValueOnce(new Error("busy")).mockResolvedValue(42);
  expect(await retryWithBackoff(operation, { baseMs: 1 })).toBe(42);
  expect(operation).toHaveBeenCalledTimes(2);
});

test("gives up and keeps the cause", async () => {
  const operation = vi.fn().mockRejectedValue(new Error("down"));
  const failure = retryWithBackoff(operation, { attempts: 2, baseMs: 1 });
  await expect(failure).rejects.toBeInstanceOf(RetryError);
});

test("does not retry what is not retryable", async () => {
  const operation = vi.fn().mockRejectedValue(new TypeError("bug"));
  const failure = retryWithBackoff(operation, { retryable: (e) => !(e instanceof TypeError) });
  await expect(failure).rejects.toBeInstanceOf(TypeError);
  expect(operation).toHaveBeenCalledTimes(1);
});

test.each([1, 2, 5, 20])("delay %d stays under its cap", (attempt) => {
  expect(backoffDelay(attempt, 100, 1_000)).toBeLessThanOrEqual(1_000);
});
