/**
 * How a client affects threads that really search, with each framework. It can read while they search. If it leaves,
 * they stop. If it does not read, it occupies neither threads nor memory. CPU time is measured, because it does not
 * depend on other load of the machine.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { open } from "../../src/opened-engine.ts";
import { createHandler, type Handler } from "../../src/http/handler.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { MOUNTS, type Mounted } from "./mounts.ts";
import { post } from "./service.ts";
import { someOf } from "../runs.ts";

const WORKERS = 2;
const path = mkdtempSync(join(tmpdir(), "quern-workers-"));
let engine: Engine;
let handler: Handler;

/** Yields words of few letters, the same ones each time. */
function* words(): Generator<string, never> {
  for (let state = 1; ;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield (state % 2 ** 30).toString(26).replace(/\d/g, "x");
  }
}

beforeAll(async () => {
  engine = await open(path, { workers: WORKERS, warmUp: false });
  const word = words();
  const line = () => `${Array.from({ length: 9 }, () => word.next().value).join(" ")}\n`;
  const files = Array.from({ length: 2500 }, (_, n) => ({
    path: `${n}.txt`,
    content: `file ${n}\n${Array.from({ length: 60 }, line).join("")}`,
  }));
  await engine.index(documents({ name: "big", files }), { symbols: "skip" });
  handler = createHandler(engine, { anonymous: "all", timeoutMs: 120_000 });
});
afterAll(async () => {
  await engine.close();
  rmSync(path, { recursive: true, force: true });
});

/**
 * A match at the end of every word, each of which is extended to the end of its file. This takes about 2.5 s in total.
 */
const SLOW = "(?s:.*q|[a-z]\\s)";
const searchFor = (query: string) => post({ query, matches: 100_000, isRegexEnabled: true });
const MOST_AFTER_MS = 1_000; // of CPU; each thread may continue for 50

const cpuMs = (since?: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
};

/**
 * Resolves when the process does almost nothing. Two searching threads do more than that, even on a machine with ten
 * other programs.
 */
async function untilIdle(): Promise<void> {
  for (;;) {
    const start = process.cpuUsage();
    await sleep(400);
    if (cpuMs(start) < 40) return;
  }
}

/** Resolves to the number of bytes in use, without garbage. */
async function heldBytes(): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  await sleep(50);
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

const FRAMEWORKS = ["node:http", "a route of Hono", "Express", "Fastify"];

describe.each(someOf(FRAMEWORKS, 3))("%s", (name) => {
  let mounted: Mounted;
  beforeAll(async () => {
    mounted = await MOUNTS[name]!(handler);
  });
  afterAll(() => mounted[Symbol.asyncDispose]());

  test("if the client of an answer leaves, the threads stop", async () => {
    const leaving = new AbortController();
    const start = process.cpuUsage();
    const asked = mounted.client("/api/search", { ...searchFor(SLOW), signal: leaving.signal });
    asked.catch(() => {});
    while (cpuMs(start) < 200) await sleep(10);
    leaving.abort();
    const left = process.cpuUsage();
    await untilIdle();
    expect(cpuMs(left)).toBeLessThan(MOST_AFTER_MS);
  });

  test("a chunk is read while the threads search, and they stop when its reader leaves", async () => {
    const response = await mounted.client("/api/stream_search", searchFor(SLOW));
    const reader = response.body!.getReader();
    const { value } = await reader.read();
    expect(Buffer.from(value!).toString()).toMatch(/^data: {"type":"chunk"/);
    const start = process.cpuUsage();
    while (cpuMs(start) < 200) await sleep(10); // the threads continue to search
    await reader.cancel();
    const left = process.cpuUsage();
    await untilIdle();
    expect(cpuMs(left)).toBeLessThan(MOST_AFTER_MS);
  });

  test("a client that does not read occupies neither memory nor threads, and gets everything in the end", async () => {
    const everything = { query: "file", matches: 100_000, contextLines: 1000, whole: true };
    const want = (await engine.search({ ...everything, matches: 0 })).stats.fileCount;
    const before = await heldBytes();
    const response = await mounted.client("/api/stream_search", post(everything));
    await untilIdle();
    expect((await heldBytes()) - before).toBeLessThan(12 * 2 ** 20); // the whole answer would be more than 25 MiB
    const start = process.cpuUsage();
    expect((await engine.search({ query: "no such thing", matches: 1 })).files).toEqual([]);
    expect(cpuMs(start)).toBeLessThan(200);
    if (name !== FRAMEWORKS[0]) return response.body!.cancel(); // 25 MiB are read once
    let text = "";
    for await (const part of response.body!)
      text += Buffer.from(part)
        .toString("latin1")
        .replaceAll(/[^"]{500,}/g, ""); // without the content
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
    expect(text.split('"fileName"').length - 1).toBe(want);
  });
});
