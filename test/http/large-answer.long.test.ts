/**
 * Answers that are too long to keep in memory. They are made while they are read, and equal those that are made as a
 * whole.
 */

import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { open } from "../../src/opened-engine.ts";
import { createHandler, type Handler } from "../../src/http/handler.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import type { SearchRequest } from "../../src/search/messages/request.ts";
import type { SearchResponse } from "../../src/search/messages/response.ts";
import { temporaryFolder } from "../engine/opened.ts";
import { comparable } from "./comparable.ts";
import type { LargeAnswer } from "./large-answer-process.ts";
import { post } from "./service.ts";
import { tellFigure } from "../figures.ts";
import { bundledPrograms } from "../programs.ts";
import { someOf } from "../runs.ts";

const MIB = 2 ** 20;
const FILES = 60;
const REPOSITORIES = 3;
const filler = "a line of some text, as there are in every file\n".repeat(400);
const content = (i: number) => `${filler}needle ${i} "\\\t\n${filler}needle again\n${filler}`;

describe.each(someOf([0, 2], 2))("%i workers: a long answer", (workers) => {
  const path = mkdtempSync(join(tmpdir(), "quern-long-"));
  let engine: Engine;
  let handler: Handler;
  beforeAll(async () => {
    engine = await open(path, { workers, warmUp: false });
    const files = Array.from({ length: FILES / REPOSITORIES }, (_, i) => i);
    const sources = Array.from({ length: REPOSITORIES }, (_, r) =>
      documents({
        name: `r${r}`,
        files: files.map((i) => ({ path: `${i}.txt`, content: content(r * FILES + i) })),
      }),
    );
    await engine.index(sources, { symbols: "skip" });
    handler = createHandler(engine, { anonymous: "all", maxConcurrent: 1, maxWaiting: 0 });
  });
  afterAll(async () => {
    await engine.close();
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  });

  const ask = (asked: SearchRequest, own: Handler = handler, init: RequestInit = {}) =>
    own(new Request("http://localhost/api/search", { ...post(asked), ...init }));
  const read = async (response: Response) => {
    const text = await response.text();
    const relative = text.replaceAll('"webUrl":"http://localhost/', '"webUrl":"/');
    return { length: text.length, answer: JSON.parse(relative) as SearchResponse };
  };
  const asked = { query: "needle", matches: 1_000 };

  test.each<[what: string, asked: SearchRequest]>([
    ["whole files", { ...asked, whole: true }],
    ["much context", { ...asked, contextLines: 1_000 }],
    ["both", { ...asked, whole: true, contextLines: 1_000 }],
    ["fewer matches than there are", { ...asked, matches: 89, whole: true }],
    ["one match a file", { ...asked, matchesPerFile: 1, contextLines: 1_000 }],
    ["a page", { ...asked, matches: 100, whole: true, after: "" }],
  ])("%s: the answer over HTTP equals that of search()", async (_, request) => {
    const response = await ask(request);
    expect(response.headers.get("content-type")).toBe("application/json");
    const { length, answer } = await read(response);
    const { nextCursor, ...want } = await engine.search(request);
    expect(length).toBeGreaterThan(2 * MIB);
    expect(comparable(answer, "same")).toEqual(
      comparable(
        JSON.parse(JSON.stringify({ ...want, ...(nextCursor && { nextCursor }) })),
        "same",
      ),
    );
  });

  test("a full answer ends with a file, and its cursor leads to the rest", async () => {
    const limited = createHandler(engine, { anonymous: "all", maxAnswerBytes: 2 * MIB });
    const all = await engine.search({ ...asked, whole: true });
    const names: string[] = [];
    let after: string | undefined = "";
    for (let pages = 0; after !== undefined; pages++) {
      const { answer } = await read(await ask({ ...asked, whole: true, after }, limited));
      expect(answer.isSearchExhaustive).toBe(false);
      expect(answer.stats.totalMatchCount).toBe(2 * FILES);
      names.push(...answer.files.map(({ repository, fileName }) => repository + fileName.text));
      after = answer.nextCursor;
      expect(pages).toBeLessThan(FILES);
    }
    const want = all.files.map(({ repository, fileName }) => repository + fileName.text);
    expect([...new Set(names)]).toEqual(want);
  });

  test("an answer whose reader leaves frees the only slot and the index immediately", async () => {
    for (let left = 0; left < 5; left++) {
      const response = await ask({ ...asked, whole: true });
      expect(response.status).toBe(200);
      const reader = response.body!.getReader();
      for (let pieces = 0; pieces < 30 * left; pieces++) await reader.read();
      expect((await ask(asked)).status).toBe(503);
      await reader.cancel();
    }
    expect((await read(await ask(asked))).answer.stats.totalMatchCount).toBe(2 * FILES);
  });

  test("an answer whose request is aborted breaks off", async () => {
    const abort = new AbortController();
    const response = await ask({ ...asked, whole: true }, handler, { signal: abort.signal });
    const reader = response.body!.getReader();
    await reader.read();
    abort.abort();
    const rest = async () => {
      while (!(await reader.read()).done);
    };
    await expect(rest()).rejects.toThrow();
    expect((await ask({ ...asked, matches: 1 })).status).toBe(200);
  });

  test("the reader's time does not count towards the time-out of the search", async () => {
    const hasty = createHandler(engine, { anonymous: "all", timeoutMs: 40_000 });
    const response = await ask({ ...asked, contextLines: 1_000 }, hasty);
    const clock = performance.now.bind(performance);
    const later = vi.spyOn(performance, "now").mockImplementation(() => clock() + 50_000);
    onTestFinished(() => later.mockRestore());
    const { answer } = await read(response);
    expect([answer.stats.actualMatchCount, answer.isSearchExhaustive]).toEqual([2 * FILES, true]);
  });
});

test("closing the engine ends a long answer", async () => {
  const engine = await open(temporaryFolder(), { workers: 1, warmUp: false });
  const files = Array.from({ length: 60 }, (_, i) => ({ path: `${i}`, content: content(i) }));
  await engine.index(documents({ name: "r", files }), { symbols: "skip" });
  const handler = createHandler(engine, { anonymous: "all" });
  const init = post({ query: "needle", matches: 1_000, whole: true });
  const response = await handler(new Request("http://localhost/api/search", init));
  await engine.close();
  await expect(response.text()).rejects.toThrow("closed");
});

let program: string;
beforeAll(async () => {
  [program] = (await bundledPrograms(["test/http/large-answer-process.ts"])) as [string];
});

/** Runs in a separate process, in which nothing else takes memory. */
async function measured(route: string): Promise<LargeAnswer> {
  const args = ["--expose-gc", program, route];
  return JSON.parse((await promisify(execFile)(process.execPath, args)).stdout) as LargeAnswer;
}

/** The memory that an answer of 53 MiB may add. Measurements are 18 to 34 MiB. */
const MOST_MORE = 45 * MIB;
const MOST_LEFT = 40 * MIB;

describe.runIf(process.platform === "linux")("whole files and a thousand lines of context", () => {
  test.each(someOf(["search", "stream_search"], 2))("%s of 1 000 files", async (route) => {
    const { before, highest, after, length } = await measured(route);
    const [most, left] = [highest - before, after - before].map((one) => one / MIB);
    tellFigure(`${route}: ${most!.toFixed()} MiB more at most, ${left!.toFixed()} left`);
    expect(length).toBeGreaterThan(50 * MIB);
    expect(highest - before).toBeLessThan(MOST_MORE);
    expect(after - before).toBeLessThan(MOST_LEFT);
  });
});
