import { describe, expect, test } from "vitest";
import { QuernError } from "../../src/base/errors.ts";
import { caught, INGEST, open, SEARCH } from "./pools.ts";

describe.each([0, 1, 2])("with %i workers", (size) => {
  test("a task's result arrives, whether it is a promise or not", async () => {
    const pool = open(size);
    expect(await pool.run("echo", { a: [1, "x"] }, SEARCH)).toEqual({ a: [1, "x"] });
    expect(await pool.run("sleep", 1, SEARCH)).toBeUndefined();
    expect(await pool.run("environment", 0, INGEST)).toBe("env");
    expect([pool.lanes, pool.inline]).toEqual([Math.max(size, 1), size === 0]);
  });

  test("messages arrive in order, and before the result", async () => {
    const got: unknown[] = [];
    const onMessage = (message: unknown) => void got.push(message);
    await open(size).run("count", 1000, { ...INGEST, onMessage });
    expect(got).toEqual(Array.from({ length: 1000 }, (_, i) => i));
  });

  test("a message that arrives after the end of its task is dropped", async () => {
    const pool = open(size);
    const got: unknown[] = [];
    await pool.run("postLate", 0, { ...SEARCH, onMessage: (message) => got.push(message) });
    await pool.run("sleep", 20, SEARCH);
    expect(got).toEqual([]);
  });

  test("an error that onMessage throws rejects only its run", async () => {
    const pool = open(size);
    const onMessage = () => {
      throw new RangeError("host");
    };
    await expect(pool.run("count", 2, { ...SEARCH, onMessage })).rejects.toThrow(RangeError);
    expect(await pool.run("echo", 1, SEARCH)).toBe(1);
  });

  test("memo() makes a value once per thread, and again after it was forgotten", async () => {
    const pool = open(size);
    const run = (task: string) => pool.run<number>(task, 0, { ...SEARCH, worker: 0 });
    const first = await run("memo");
    expect(await run("memo")).toBe(first);
    await run("forget");
    expect(await run("memo")).toBe(first + 1);
  });
});

describe.each([0, 1, 2])("errors with %i workers", (size) => {
  test.each<[string, string, object]>([
    ["fail", "quern", { code: "QUERY_SYNTAX", message: "no", position: 7 }],
    ["reject", "quern", { code: "QUERY_SYNTAX", message: "no", position: 7 }],
    ["fail", "error", { code: "INTERNAL", message: "broken" }],
    ["reject", "words", { code: "INTERNAL", message: "words", cause: "words" }],
    ["missing", "", { code: "INTERNAL", message: "there is no task missing" }],
  ])("%s(%s) rejects with %j", async (task, input, want) => {
    const error = await caught(open(size).run(task, input, SEARCH));
    expect(error).toBeInstanceOf(QuernError);
    expect(error).toMatchObject(want);
  });

  test("the stack of a foreign error is its cause", async () => {
    const error = await caught(open(size).run("fail", "error", SEARCH));
    expect(error).toMatchObject({ cause: expect.stringMatching(/^TypeError: broken\n +at /) });
  });
});

test("buffers that a task transfers leave the worker", async () => {
  const pool = open(1);
  expect(await pool.run("fill", 5, SEARCH)).toEqual(new Uint8Array([5, 5, 5, 5, 5]));
  await pool.run("sleep", 5, SEARCH);
  expect(await pool.run("counter", 0, SEARCH)).toBe(0);
});

test("a value that cannot be copied fails only its task", async () => {
  const pool = open(1);
  expect(await caught(pool.run("uncloneable", 0, SEARCH))).toMatchObject({ code: "INTERNAL" });
  expect(await caught(pool.run("echo", () => 0, SEARCH))).toMatchObject({ code: "INTERNAL" });
  expect(await pool.run("echo", 1, SEARCH)).toBe(1);
  expect(await caught(open(1, () => 0).run("echo", 1, SEARCH))).toMatchObject({
    code: "INTERNAL",
    message: expect.stringContaining("no worker starts") as string,
  });
});
