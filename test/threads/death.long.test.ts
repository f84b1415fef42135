import { describe, expect, test } from "vitest";
import { caught, INGEST, open, SEARCH, warnings } from "./pools.ts";

describe.each([0, 1, 2])("closing with %i workers", (size) => {
  test("close() rejects running and waiting tasks, and later calls of run()", async () => {
    const pool = open(size);
    await pool.run("echo", 0, SEARCH);
    const runs = [0, 0, 0].map(() => caught(pool.run("spin", 10_000, INGEST)));
    await pool.run("echo", 0, SEARCH);
    const start = performance.now();
    await Promise.all([pool.close(), pool.close()]);
    expect(performance.now() - start).toBeLessThan(10_000); // before they would end
    const closed = { code: "ENGINE_CLOSED" };
    expect(await Promise.all(runs)).toMatchObject([closed, closed, closed]);
    expect(await caught(pool.run("echo", 0, SEARCH))).toMatchObject(closed);
  });
});

test("close() lets a task finish that ends soon", async () => {
  const pool = open(1);
  await pool.run("echo", 0, SEARCH);
  const words = new Int32Array(new SharedArrayBuffer(12));
  const run = caught(pool.run("block", { ms: 100, words }, SEARCH));
  while (Atomics.load(words, 0) === 0) await new Promise((turn) => setImmediate(turn));
  await pool.close();
  expect([...words]).toEqual([1, 1, 0]);
  expect(await run).toMatchObject({ code: "ENGINE_CLOSED" });
});

test("close() does not wait for a task that never ends", async () => {
  const pool = open(1);
  await pool.run("echo", 0, SEARCH);
  const run = caught(pool.run("loop", 0, SEARCH));
  await pool.close();
  expect(await run).toMatchObject({ code: "ENGINE_CLOSED" });
});

test("kept values are disposed of at close()", async () => {
  const pool = open(0);
  let disposed = 0;
  await pool.run("disposable", () => disposed++, SEARCH);
  await pool.close();
  expect(disposed).toBe(1);
});

describe("a worker that dies", () => {
  test.each(["exit", "throwLater"])("by %s fails its tasks, and is replaced", async (how) => {
    const pool = open(2);
    await Promise.all([0, 1].map((worker) => pool.run("echo", 0, { ...SEARCH, worker })));
    const elsewhere = pool.run("sleep", 300, { ...SEARCH, worker: 1 });
    const interleaved = caught(pool.run("sleep", 5000, { ...INGEST, worker: 0 }));
    const deadly = caught(pool.run(how, 0, { ...SEARCH, worker: 0 }));
    const bound = caught(pool.run("echo", 1, { ...SEARCH, worker: 0 }));
    const anywhere = pool.run("echo", 2, SEARCH);
    const died = {
      code: "INTERNAL",
      message: expect.stringMatching(/^worker 0 died: /) as string,
    };
    expect(await Promise.all([interleaved, deadly, bound])).toMatchObject([died, died, died]);
    expect(await Promise.all([elsewhere, anywhere])).toEqual([undefined, 2]);
    expect(await pool.run("echo", 3, { ...SEARCH, worker: 0 })).toBe(3);
    expect(warnings).toEqual([
      how === "exit" ? "worker 0 died: exit code 3" : "worker 0 died: boom",
    ]);
  });

  test("of its task is replaced, however often that happens", async () => {
    const pool = open(1);
    for (let i = 0; i < 7; i++) {
      const deadly = caught(pool.run("exit", 0, SEARCH));
      expect(await pool.run("echo", i, SEARCH)).toBe(i);
      await deadly;
    }
    expect(warnings.length).toBe(7);
  });

  test("while idle is replaced as well", async () => {
    const pool = open(1);
    await pool.run("dieSoon", 5, SEARCH);
    await expect.poll(() => warnings).toEqual(["worker 0 died: exit code 4"]);
    expect(await pool.run("echo", 1, SEARCH)).toBe(1);
  });

  test("still delivers the messages that it posted before", async () => {
    const got: unknown[] = [];
    const onMessage = (message: unknown) => void got.push(message);
    await caught(open(1).run("throwLater", 0, { ...SEARCH, onMessage }));
    expect(got).toEqual(["armed"]);
  });
});

describe("a worker that is stuck", () => {
  test("in an endless task is ended when its pulse stops", async () => {
    const pool = open(2);
    await Promise.all([0, 1].map((worker) => pool.run("echo", 0, { ...SEARCH, worker })));
    const elsewhere = pool.run("sleep", 700, { ...SEARCH, worker: 1 });
    const stuck = caught(pool.run("loop", 0, { ...INGEST, worker: 0, maxSilentMs: 300 }));
    const behind = caught(pool.run("echo", 1, { ...SEARCH, worker: 0 }));
    const message = "worker 0 died: loop did not respond for 0.3 s";
    const died = { code: "INTERNAL", message };
    expect(await Promise.all([stuck, behind])).toMatchObject([died, died]);
    expect(await elsewhere).toBeUndefined();
    expect(await pool.run("echo", 3, { ...SEARCH, worker: 0 })).toBe(3);
    expect(warnings).toEqual([message]);
  });

  test("is not ended if its task pauses or has finished", async () => {
    const pool = open(1);
    const watched = { ...INGEST, maxSilentMs: 500 }; // a busy machine is silent for less time than this
    expect(await pool.run<number>("spin", 800, watched)).toBeGreaterThan(5);
    await pool.run("echo", 1, watched);
    expect(await pool.run("memo", 0, SEARCH)).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 800));
    expect(await pool.run("memo", 0, SEARCH)).toBe(1); // the same worker
    expect(warnings).toEqual([]);
  });
});

describe("a worker that dies at start", () => {
  test("five times in a row is given up, and every run reports this", async () => {
    const pool = open(2, "stillborn");
    const runs = [caught(pool.run("echo", 1, SEARCH)), caught(pool.run("echo", 1, INGEST))];
    const message = "no worker starts: worker 0 died: cannot live";
    for (const error of await Promise.all(runs))
      expect(error).toMatchObject({
        code: "INTERNAL",
        message: expect.stringMatching(/^no worker starts: worker . died: cannot live$/),
      });
    warnings.length = 0;
    expect(await caught(pool.run("echo", 1, { ...SEARCH, worker: 0 }))).toMatchObject({ message });
    expect(warnings).toEqual(Array(5).fill("worker 0 died: cannot live"));
  });
});
