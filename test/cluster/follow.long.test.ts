/** Tests what a cluster does periodically: it looks for changes and renews leases. */

import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { Alarm } from "../../src/cluster/follow/alarm.ts";
import { Follower, type Followed } from "../../src/cluster/follow/follower.ts";
import { keepRenewing } from "../../src/cluster/follow/renewal.ts";

const HOUR_MS = 3_600_000;

function follow<T>(followed: Partial<Followed<T>> & Pick<Followed<T>, "run">): Follower<T> {
  const follower = new Follower({ everyMs: HOUR_MS, onTrouble: () => undefined, ...followed });
  onTestFinished(() => follower.close());
  return follower;
}

test("all callers that ask during a run share the next run", async () => {
  const ends: ((run: number) => void)[] = [];
  const follower = follow({ run: () => new Promise<number>((end) => ends.push(end)) });
  const first = follower.run();
  await expect.poll(() => ends.length).toBe(1);
  const [second, third] = [follower.run(), follower.run()];
  ends[0]!(1);
  expect(await first).toBe(1);
  await expect.poll(() => ends.length).toBe(2);
  ends[1]!(2);
  expect(await Promise.all([second, third])).toEqual([2, 2]);
});

test("a failed run rejects only for its own callers", async () => {
  const outcomes = [Promise.reject(new Error("no")), Promise.resolve("yes")];
  outcomes[0]!.catch(() => undefined);
  const follower = follow({ run: () => outcomes.shift()! });
  await expect(follower.run()).rejects.toThrow("no");
  expect(await follower.run()).toBe("yes");
});

test("it repeats by itself, runs at once when woken, and reports each kind of trouble once", async () => {
  let runs = 0;
  let why: string | undefined;
  const troubles: unknown[] = [];
  const run = async (): Promise<void> => {
    runs++;
    if (why !== undefined) throw new Error(why);
  };
  const onTrouble = (error: unknown) => void troubles.push(String(error));
  const often = follow({ run, everyMs: 1, onTrouble });
  often.start();
  const pass = async () => {
    const before = runs;
    await expect.poll(() => runs).toBeGreaterThan(before + 2);
  };
  await pass();
  for (const reason of ["a", "b", undefined, "b"]) {
    why = reason;
    await pass();
  }
  expect(troubles).toEqual(["Error: a", "Error: b", "Error: b"]);
  await often.close();
  const last = runs;
  let woken = 0;
  const seldom = follow({ run: () => Promise.resolve(void woken++) });
  seldom.wake(); // a wake-up before the start is kept
  seldom.start();
  await expect.poll(() => woken).toBe(1);
  seldom.wake();
  await expect.poll(() => woken).toBe(2);
  await seldom.close();
  seldom.wake();
  await sleep(60);
  expect([runs, woken]).toEqual([last, 2]);
});

test("close() waits for the current run", async () => {
  let end = (): void => undefined;
  const follower = follow({ run: () => new Promise<void>((done) => (end = done)) });
  void follower.run();
  let isClosed = false;
  const closed = follower.close().then(() => (isClosed = true));
  await sleep(20);
  expect(isClosed).toBe(false);
  end();
  await closed;
});

test("an alarm that rings while nothing waits ends the next wait", async () => {
  const { signal } = new AbortController();
  const alarm = new Alarm();
  alarm.ring();
  await alarm.wait(HOUR_MS, signal);
  const waiting = alarm.wait(HOUR_MS, signal);
  alarm.ring();
  await waiting;
  await alarm.wait(1, signal); // rings are not kept twice
  await alarm.wait(HOUR_MS, AbortSignal.abort());
});

test("a lease is renewed every 10 s until the end, even after failures, and its loss is reported", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const answers = [true, new Error("PostgreSQL is down"), true, false, true];
  let asked = 0;
  const renew = async (): Promise<boolean> => {
    const answer = answers[asked++]!;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const renewal = keepRenewing(renew);
  await vi.advanceTimersByTimeAsync(30_000);
  expect([asked, renewal.lost.aborted]).toEqual([3, false]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect([asked, renewal.lost.aborted]).toEqual([4, true]);
  renewal[Symbol.dispose]();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toBe(4);
});
