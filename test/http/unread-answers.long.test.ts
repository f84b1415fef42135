/**
 * The memory of answers that nobody reads is bounded for all of them together. If the bound is reached, the reader that
 * is furthest behind loses its answer.
 */

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createApiKey } from "../../src/auth/secrets.ts";
import { memoryTokenStore } from "../../src/auth/token-store.ts";
import { coreOf } from "../../src/core-of.ts";
import { EngineFacade } from "../../src/engine-facade.ts";
import type { Engine } from "../../src/engine.ts";
import { createHandler } from "../../src/http/handler.ts";
import { heldBytes } from "../../src/http/held-bytes.ts";
import type { LongAnswer } from "../../src/search/caller/long-answer.ts";
import type { FileResult } from "../../src/search/messages/response.ts";
import { zeroStats } from "../../src/search/messages/stats.ts";
import { tellFigure } from "../figures.ts";
import { bundledPrograms } from "../programs.ts";
import { chunkEvent, emptyResponse, finalEvent, scriptedEngine } from "./scripted.ts";
import { bearer, clientOf, post } from "./service.ts";
import type { UnreadAnswers } from "./unread-answers-process.ts";
import { someOf } from "../runs.ts";

const MIB = 2 ** 20;
const [file] = (chunkEvent() as { files: FileResult[] }).files;
/** A text of a little less than a quarter of the limit. */
const long = "x".repeat(63 * MIB);
const files: FileResult[] = [{ ...file!, content: long }];
/** The files of a stream. Each file in a stream counts twice. */
const streamed: FileResult[] = [{ ...file!, content: long.slice(long.length / 2) }];
const response = async () => ({ ...emptyResponse(), files });
const whole = scriptedEngine({
  search: response,
  async *stream() {
    yield { ...chunkEvent("first"), files: [file!] } as ReturnType<typeof chunkEvent>;
    yield { ...chunkEvent(), files: streamed } as ReturnType<typeof chunkEvent>;
    yield finalEvent();
  },
});
const stepwise = (keptBytes: number): Engine => {
  const begin = async (): Promise<LongAnswer> => {
    const steps = [[file!], files];
    return { keptBytes, next: async () => steps.shift(), end: emptyResponse, close: () => {} };
  };
  const core = coreOf(whole);
  return new EngineFacade({ ...core, view: (options) => ({ ...core.view(options), begin }) });
};

type Serve = (path: string, headers?: Record<string, string>) => Promise<Response>;
function serve(engine = whole, options: object = {}): Serve {
  const client = clientOf(createHandler(engine, { anonymous: "all", ...options }));
  return (path, headers = {}) => client(path, post({ query: "x", matches: 1 }, headers));
}

type Body = ReadableStreamDefaultReader<Uint8Array>;
const explains = {
  ...whole,
  explain: async () => {
    const none = { segments: [], hints: [], suggestions: [], notIndexed: [] };
    return { query: long, stats: zeroStats(), ...none };
  },
};

/**
 * Sends a request, and reads until the long text has begun. Resolves to undefined if the answer was rejected before
 * that.
 */
async function begin(asked: Promise<Response>): Promise<Body | undefined> {
  const { status, body } = await asked;
  if (status === 503) return undefined;
  expect(status).toBe(200);
  const reader = body!.getReader();
  let text = "";
  try {
    while (text.length < MIB) {
      const { done, value } = await reader.read();
      if (done) break;
      text += Buffer.from(value).toString();
    }
  } catch (error) {
    expect(error).toMatchObject({ code: "OVERLOADED" });
    return undefined;
  }
  if (!text.includes("OVERLOADED")) return reader;
  expect(text).toMatch(/data: {"type":"error","error":{[^\n]*}}\n\n$/);
  return undefined;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
});

test.each<[what: string, path: string, engine: Engine]>([
  ["answers", "/api/search", whole],
  ["explanations", "/api/explain", explains],
  ["streams", "/api/stream_search", whole],
  ["answers that are made as they are read", "/api/search", stepwise(0)],
])(
  "%s: one answer too many is rejected, until the slowest reader loses its answer",
  async (_, path, engine) => {
    const ask = serve(engine);
    const readers: Body[] = [];
    for (let n = 0; n < 4; n++) {
      readers.push((await begin(ask(path)))!);
      vi.advanceTimersByTime(1_000);
    }
    expect(await begin(ask(path))).toBeUndefined();
    await readers.pop()!.cancel();
    readers.push((await begin(ask(path)))!);
    vi.advanceTimersByTime(20_000);
    expect(await begin(ask(path))).toBeDefined();
    await expect(readers.shift()!.read()).rejects.toThrow("another caller needed its slot");
    for (const reader of readers) expect((await reader.read()).done).toBe(false);
  },
);

test("the list of a long answer counts, and no answer counts for more than half of the limit", async () => {
  const ask = serve(stepwise(2 ** 40));
  const held = [await begin(ask("/api/search")), await begin(ask("/api/search"))];
  expect(held).not.toContain(undefined);
  expect(await begin(ask("/api/search"))).toBeUndefined();
});

test("readers without a credential leave room for those with one, and end none of their answers", async () => {
  const tokens = memoryTokenStore();
  const { secret } = await createApiKey(tokens, { ownerId: "ada", name: "ada" });
  const ask = serve(whole, { tokens });
  const asked = (headers = {}) => begin(ask("/api/search", headers));
  const strangers = [await asked(), await asked(), await asked()];
  expect(strangers).not.toContain(undefined);
  expect(await asked()).toBeUndefined();
  const known = await asked(bearer(secret));
  expect(await asked(bearer(secret))).toBeUndefined();
  vi.advanceTimersByTime(50_000);
  for (const stranger of strangers) await stranger!.read();
  vi.advanceTimersByTime(1_000);
  expect(await asked()).toBeDefined();
  expect((await known!.read()).done).toBe(false);
  expect(await asked(bearer(secret))).toBeDefined();
});

test.each([
  [{}, 0],
  [{ a: "xyz", b: 1 }, 8 + 24 + 3 + 8],
  [[1, [2, "é"], null], 8 + 8 + 24 + 8 + 8 + 24 + 1 + 8],
  [{ a: Array(1_000).fill("x".repeat(1_000)) }, 8 + 24 + 1_000 * (8 + 24 + 1_000)],
])("%#: the memory of an answer", async (value, bytes) => {
  expect(await heldBytes(value)).toBe(bytes);
});

/** The limit for the growth of memory. It grows by 215 to 305 MiB, and without the limit on answers by 530 or more. */
const MOST_MORE = 400 * MIB;

describe.runIf(process.platform === "linux")("32 answers of 16 MiB that nobody reads", () => {
  test.each(someOf(["search", "stream_search"], 2))("%s", async (route) => {
    vi.useRealTimers();
    const [program] = await bundledPrograms(["test/http/unread-answers-process.ts"]);
    const run = promisify(execFile)(process.execPath, ["--expose-gc", program!, route]);
    const { before, after, statuses } = JSON.parse((await run).stdout) as UnreadAnswers;
    tellFigure(`${route}: ${((after - before) / MIB).toFixed()} MiB more`);
    expect(after - before).toBeLessThan(MOST_MORE);
    expect(statuses[200]).toBeGreaterThanOrEqual(8);
    expect(statuses[503]).toBeGreaterThan(0); // few on a busy machine, where unread answers end in the meantime
  });
});
