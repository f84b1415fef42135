/** The folders of `quern mcp` are not read before the first call is answered, and are read then. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { firstAnswer } from "../../src/cli/first-answer.ts";
import { follow } from "../../src/cli/followed-paths.ts";
import type { Io } from "../../src/cli/io.ts";
import { openEngine, temporaryFolder } from "../engine/opened.ts";

const LONG_MS = 600_000;

function started(quietMs: number, mostMs: number) {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const { guard, given } = firstAnswer(stop.signal, quietMs, mostMs);
  const state = { isGiven: false };
  void given.then(() => (state.isGiven = true));
  return { guard, given, state, stop };
}

const ASKED = { tool: "search", args: {} };

test("the first answer counts as given only when the first call has ended", async () => {
  const { guard, given, state } = started(LONG_MS, LONG_MS);
  let answer: (text: string) => void = () => {};
  const call = guard(ASKED, () => new Promise<string>((resolve) => (answer = resolve)));
  await sleep(20);
  expect(state.isGiven).toBe(false);
  answer("found");
  expect(await call).toBe("found");
  await given;
});

test("a call that fails has ended, too", async () => {
  const { guard, given } = started(LONG_MS, LONG_MS);
  await expect(guard(ASKED, () => Promise.reject(new Error("wrong")))).rejects.toThrow("wrong");
  await given;
});

test.each<[string, number, number, boolean]>([
  ["no call arrives", 1, LONG_MS, false],
  ["the first call takes long", LONG_MS, 1, true],
])("the wait ends if %s", async (_, quietMs, mostMs, calls) => {
  const { guard, given } = started(quietMs, mostMs);
  if (calls) void guard(ASKED, () => new Promise(() => {}));
  await given;
});

test("the wait ends if the server is stopped", async () => {
  const { given, stop } = started(LONG_MS, LONG_MS);
  stop.abort();
  await given;
});

test("before the first answer, no path is read, and answers say so", async () => {
  const engine = await openEngine();
  const folder = join(temporaryFolder(), "shop");
  mkdirSync(folder);
  writeFileSync(join(folder, "a.ts"), "export const needle = 1;\n");
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const output = { write: () => true };
  const io: Io = { stdout: output, stderr: output, env: {}, signal: stop.signal };
  let begin = () => {};
  const followed = follow(
    engine,
    { paths: [folder], flags: { db: engine.path } },
    { io, signal: stop.signal, begin: new Promise((resolve) => (begin = resolve)) },
  );
  const count = async () =>
    (await followed.engine.search({ query: "needle", matches: 1 })).stats.fileCount;
  await sleep(20);
  expect(await count()).toBe(0);
  expect(engine.generation).toBe(0);
  expect(followed.behind()).toEqual([
    `INCOMPLETE: ${folder} is still being indexed: new content is missing.`,
  ]);
  begin();
  await followed.done;
  expect(followed.behind()).toEqual([]);
  expect(await count()).toBe(1);
});
