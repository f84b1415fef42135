/**
 * An idle engine runs searches of its own until its threads are ready. It stops when a caller searches, and warm-up can
 * be turned off.
 */

import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { WarmUp } from "../../src/search/caller/warm-up.ts";
import type { FileResult } from "../../src/search/messages/response.ts";
import { openEngine } from "../engine/opened.ts";

/** Makes a warm-up whose searches are recorded. `answer` resolves when an answer, which has the given files, is due. */
function warmUp(
  answer: (signal: AbortSignal) => Promise<unknown>,
  isIdle = () => true,
  files: FileResult[] = [],
) {
  const asked: string[] = [];
  const state = { hasContent: true, looks: 0 };
  const warming = new WarmUp({
    isIdle,
    hasContent: async () => {
      state.looks++;
      return state.hasContent;
    },
    search: async ({ query }, { signal }) => {
      asked.push(query);
      await answer(signal!);
      return { files };
    },
  });
  onTestFinished(() => warming.close());
  return { asked, state, warming };
}

/** The most that a warm-up asks. */
const MOST = 1000;

test("asks a bounded number of questions", async () => {
  const { asked } = warmUp(async () => {});
  expect(asked).toEqual([]);
  await expect.poll(() => asked.length).toBe(MOST);
  await sleep(150);
  expect(asked).toHaveLength(MOST);
  expect(new Set(asked).size).toBeGreaterThan(4);
});

test("ends when it has spent enough time and asked enough questions", async () => {
  const { asked } = warmUp(() => sleep(110));
  await expect.poll(() => asked.length).toBe(40);
  await sleep(250);
  expect(asked).toHaveLength(40);
});

test("asks about the files that it finds, each time twice", async () => {
  const engine = await openEngine();
  const content = "let a = parseHeaderOf(b);";
  await engine.index(documents({ name: "one", files: [{ path: "src/my header.ts", content }] }));
  const { files } = await engine.search({ query: "a", matches: 9 });
  const { asked } = warmUp(
    async () => {},
    () => true,
    files,
  );
  await expect.poll(() => asked.length).toBeGreaterThan(20);
  const about = ["parseHeaderOf", "parseHeaderOf\\b", "file:my.header.ts", 'lang:"TypeScript"'];
  expect(asked.slice(1, 9).toSorted()).toEqual(about.flatMap((one) => [one, one]).toSorted());
  for (const query of about)
    expect(await engine.search({ query, matches: 9, isRegexEnabled: true })).toMatchObject({
      stats: { fileCount: 1 },
    });
});

test("asks nothing invalid about a file without words, language and name of ASCII", async () => {
  const engine = await openEngine();
  const content = "é";
  await engine.index(documents({ name: "one", files: [{ path: "ü/ö(", content }] }));
  const { files } = await engine.search({ query: "é", matches: 9 });
  expect(files).toMatchObject([{ language: "" }]);
  const { asked } = warmUp(
    async () => {},
    () => true,
    files,
  );
  await expect.poll(() => asked.length).toBeGreaterThan(20);
  for (const query of new Set(asked))
    await engine.search({ query, matches: 9, isRegexEnabled: true });
});

test("stops its running search when the host searches, and continues later", async () => {
  let isIdle = true;
  const { asked, warming } = warmUp(
    (signal) =>
      asked.length === 1
        ? new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
        : Promise.resolve(),
    () => isIdle,
  );
  await expect.poll(() => asked.length).toBe(1);
  isIdle = false;
  warming.interrupt();
  await sleep(50);
  expect(asked).toHaveLength(1);
  isIdle = true;
  await expect.poll(() => asked.length).toBeGreaterThan(20);
});

test("stops while the engine is used, and continues later", async () => {
  let [isIdle, looks] = [true, 0];
  const { asked } = warmUp(
    async () => void (isIdle = asked.length !== 3),
    () => {
      looks++;
      return isIdle;
    },
  );
  await expect.poll(() => asked.length).toBe(3);
  const before = looks;
  await expect.poll(() => looks).toBeGreaterThan(before + 2);
  expect(asked).toHaveLength(3);
  isIdle = true;
  await expect.poll(() => asked.length).toBeGreaterThan(20);
});

test("close() resolves between two questions, although nothing keeps the process alive", async () => {
  const { asked, warming } = warmUp(async () => {});
  await expect.poll(() => asked.length).toBeGreaterThan(0);
  await turn(); // the answer has come
  let isClosed = false;
  void warming.close().then(() => (isClosed = true));
  for (let i = 0; i < 20; i++) await Promise.resolve();
  expect(isClosed).toBe(true);
});

test("waits until two checks in a row find the engine idle", async () => {
  const looks = [true, false, true, true];
  const { asked } = warmUp(
    async () => {},
    () => {
      if (looks.length > 0) expect(asked).toEqual([]);
      return looks.shift() ?? true;
    },
  );
  await expect.poll(() => asked.length).toBeGreaterThan(20);
});

test("waits while there is nothing to search", async () => {
  const { asked, state } = warmUp(async () => {});
  state.hasContent = false;
  await expect.poll(() => state.looks).toBe(2);
  expect(asked).toEqual([]);
  state.hasContent = true;
  await expect.poll(() => asked.length).toBeGreaterThan(20);
});

test("gives up if a search fails", async () => {
  const { asked } = warmUp(() => Promise.reject(new Error("damaged")));
  await expect.poll(() => asked.length).toBe(1);
  await sleep(500);
  expect(asked).toHaveLength(1);
});

test("close() aborts the running search, waits for its end, and begins no other", async () => {
  let ended = false;
  const { asked, warming } = warmUp(async (signal) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    await sleep(50);
    ended = true;
  });
  await expect.poll(() => asked.length).toBe(1);
  await warming.close();
  expect(ended).toBe(true);
  await sleep(500);
  expect(asked).toHaveLength(1);
});

/** Counts the threads that this process starts. */
function countThreads(): () => number {
  const started: Worker[] = [];
  const onWorker = (worker: Worker) => void started.push(worker);
  process.on("worker", onWorker);
  onTestFinished(() => void process.off("worker", onWorker));
  return () => started.length;
}

test.each([
  { warmUp: true, workers: 2, threads: 2 },
  { warmUp: false, workers: 2, threads: 0 },
  { warmUp: true, workers: 0, threads: 0 },
])(
  "an idle engine with warmUp $warmUp and $workers workers starts $threads threads",
  async ({ threads, ...options }) => {
    const { path } = await filled();
    const started = countThreads();
    const engine = await openEngine(options, path);
    expect(started()).toBe(0);
    if (threads > 0) await expect.poll(started).toBe(threads);
    else await sleep(300);
    expect(started()).toBe(threads);
    const { stats } = await engine.search({ query: "return", matches: 5 });
    expect(stats).toMatchObject({ totalMatchCount: 30, crashes: 0, shardsSkipped: 0 });
  },
);

test("an idle empty engine starts no thread", async () => {
  const started = countThreads();
  await openEngine({ workers: 2 });
  await sleep(300);
  expect(started()).toBe(0);
});

async function filled() {
  const engine = await openEngine();
  const files = Array.from({ length: 30 }, (_, i) => ({
    path: `${i}.c`,
    content: "return value;\n",
  }));
  await engine.index(documents({ name: "r", files }));
  return engine;
}
