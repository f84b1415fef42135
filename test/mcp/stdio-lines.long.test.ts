/** Whatever a client writes to the standard input, each line is passed on or answered with an error. */

import { PassThrough, Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { collectGarbage } from "../../src/base/collect-garbage.ts";
import { messageLines } from "../../src/mcp/stdio-lines.ts";

const CALL = { jsonrpc: "2.0", id: 1, method: "tools/list" };

/** Resolves to the lines that are passed on, and to the answers. */
async function exchange(text: string, piece = text.length) {
  const output = new PassThrough();
  const pieces = Array.from({ length: Math.ceil(text.length / piece) }, (_, i) =>
    Buffer.from(text.slice(i * piece, (i + 1) * piece)),
  );
  const passed: string[] = [];
  for await (const line of messageLines(Readable.from(pieces), output))
    passed.push(line.toString());
  output.end();
  const told = (await output.toArray()).join("").split("\n").filter(Boolean);
  return {
    passed,
    answers: told.map((line) => {
      const { id, error } = JSON.parse(line) as { id: unknown; error: { code: number } };
      return `${JSON.stringify(id)} ${error.code}`;
    }),
  };
}

test.each<[what: string, message: unknown, answer: string | undefined]>([
  ["a request", CALL, undefined],
  ["a notification", { jsonrpc: "2.0", method: "notifications/initialized" }, undefined],
  ["an answer", { jsonrpc: "2.0", id: 1, result: {} }, undefined],
  ["a request of a named id", { ...CALL, id: "a", params: {} }, undefined],
  ["params that are a list", { ...CALL, params: [] }, "1 -32602"],
  ["params that are null", { ...CALL, params: null }, "1 -32602"],
  ["an id that is an object", { ...CALL, id: {} }, "null -32600"],
  ["another protocol", { ...CALL, jsonrpc: "1.0" }, "1 -32600"],
  ["no method", { jsonrpc: "2.0" }, "null -32600"],
  ["a method that is a number", { ...CALL, method: 1 }, "1 -32600"],
  ["a batch", [CALL], "null -32600"],
  ["null", null, "null -32600"],
  [
    "many values",
    { ...CALL, params: { a: Array.from({ length: 3_000 }, () => 0) } },
    "null -32600",
  ],
  ["a long one", { ...CALL, params: { a: "x".repeat(200_000) } }, "null -32600"],
])("%s", async (_, message, answer) => {
  const line = `${JSON.stringify(message)}\n`;
  for (const piece of [undefined, 1_000, 7]) {
    const { passed, answers } = await exchange(`${line}\n${JSON.stringify(CALL)}\n`, piece);
    expect(answers).toEqual(answer === undefined ? [] : [answer]);
    expect(passed).toEqual([...(answer === undefined ? [line] : []), `${JSON.stringify(CALL)}\n`]);
  }
});

test("a line that is not JSON, and a line without an end", async () => {
  expect(await exchange("{\n")).toEqual({ passed: [], answers: ["null -32700"] });
  expect(await exchange("x".repeat(1_000_000), 10_000)).toEqual({ passed: [], answers: [] });
});

test("only a little of a line without an end is kept", async () => {
  const pieces = function* () {
    for (let mebibytes = 0; mebibytes < 200; mebibytes++) yield Buffer.alloc(2 ** 20, "x");
    collectGarbage();
    held = process.memoryUsage().arrayBuffers;
    yield Buffer.from("\n");
  };
  collectGarbage();
  const before = process.memoryUsage().arrayBuffers;
  let held = 0;
  const output = new PassThrough();
  expect(await messageLines(Readable.from(pieces()), output).next()).toMatchObject({ done: true });
  expect(held - before).toBeLessThan(40 * 2 ** 20);
  expect(String(output.read())).toContain("at most");
});

test("while nobody reads the answers, nothing is read", async () => {
  let free = () => {};
  const output = new Writable({
    highWaterMark: 1,
    write: (_chunk, _encoding, done) => void (free = done),
  });
  const lines = messageLines(
    Readable.from([Buffer.from(`${JSON.stringify(CALL)}\n`.repeat(3))]),
    output,
  );
  expect((await lines.next()).done).toBe(false);
  output.write("an answer");
  let isNext = false;
  const next = lines.next().then(() => (isNext = true));
  await sleep(20);
  expect(isNext).toBe(false);
  free();
  await next;
});

test("a chunk of many lines takes many turns of the event loop", async () => {
  const output = new PassThrough({ highWaterMark: 2 ** 24 });
  const lines = 10_000;
  let written = 0;
  output.on("data", (chunk: Buffer) => (written += chunk.toString().split("\n").length - 1));
  let most = 0;
  let isOver = false;
  const look = (before: number) => {
    most = Math.max(most, written - before);
    if (!isOver) setImmediate(look, written);
  };
  setImmediate(look, 0);
  const input = Readable.from([Buffer.from("x\n".repeat(lines))]);
  for await (const _ of messageLines(input, output)); // none is passed on
  isOver = true;
  expect(written).toBe(lines);
  expect(most).toBeLessThan(10);
});
