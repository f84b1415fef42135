import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { newPulse, watch } from "../../src/threads/watch.ts";

const block = (ms: number) => {
  for (const end = performance.now() + ms; performance.now() < end;);
};

interface Case {
  readonly beats?: true;
  readonly blockedMs?: number;
  readonly endedMs?: number;
  readonly told: number;
}

test.each<[what: string, how: Case]>([
  ["a pulse that stands still", { told: 1 }],
  ["one that beats", { beats: true, told: 0 }],
  ["a watcher that was blocked itself", { blockedMs: 400, endedMs: 150, told: 0 }],
  ["a watch that has ended", { endedMs: 100, told: 0 }],
])("%s", async (_, { beats, blockedMs = 0, endedMs = 600, told }) => {
  const pulse = newPulse();
  let calls = 0;
  const end = watch(pulse, 200, () => calls++);
  const beating = beats && setInterval(() => pulse[0]!++, 20);
  block(blockedMs);
  await sleep(endedMs);
  end();
  await sleep(600 - endedMs);
  expect(calls).toBe(told);
  clearInterval(beating);
});
