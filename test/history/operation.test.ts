/** A call that is over before it begins starts nothing. */

import { expect, test, vi } from "vitest";
import { operate } from "../../src/history/operation.ts";

const place = { folder: "/nowhere", gitDir: "/nowhere", isBare: true, shallowFile: "/nowhere" };
const open = new AbortController().signal;

test.each([
  ["the engine is closed", { closing: AbortSignal.abort(), signal: undefined }, "ENGINE_CLOSED"],
  ["the caller has given up", { closing: open, signal: AbortSignal.abort() }, "ABORTED"],
  ["both", { closing: AbortSignal.abort(), signal: AbortSignal.abort() }, "ENGINE_CLOSED"],
])("%s", async (_, signals, code) => {
  const run = vi.fn(async () => "done");
  const call = operate(place, { timeoutMs: 1_000, ...signals }, run);
  await expect(call).rejects.toMatchObject({ code });
  expect(run).not.toHaveBeenCalled();
});
