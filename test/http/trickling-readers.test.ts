/** Readers that take just enough not to be idle. They lose their slots to others, and hold none for long. */

import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { memoryTokenStore } from "../../src/auth/token-store.ts";
import { createApiKey } from "../../src/auth/secrets.ts";
import { createHandler } from "../../src/http/handler.ts";
import type { FileResult, SearchEvent } from "../../src/search/messages/response.ts";
import { chunkEvent, emptyResponse, scriptedEngine } from "./scripted.ts";
import { bearer, clientOf, post } from "./service.ts";

const [file] = (chunkEvent() as { files: FileResult[] }).files;
/** 40 MB. */
const files = Array<FileResult>(400).fill({ ...file!, content: "x".repeat(100_000) });
const engine = scriptedEngine({
  search: async () => ({ ...emptyResponse(), files }),
  async *stream() {
    yield { ...chunkEvent(), files } as SearchEvent;
  },
});

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
});

const PATHS = ["/api/search", "/api/stream_search"];
const search = { query: "x", matches: 1 };

function serve(options: object) {
  const client = clientOf(createHandler(engine, { anonymous: "all", ...options }));
  return (path: string, headers = {}) => client(path, post(search, headers));
}

type Body = ReadableStreamDefaultReader<Uint8Array>;
const bodyOf = (response: Response): Body => response.body!.getReader();

/**
 * Takes this many bytes in each second, for this many seconds. Returns the seconds until the body ended or broke off.
 */
async function trickle(
  body: Body,
  bytesASecond: number,
  seconds: number,
  secondMs = 1_000,
): Promise<number> {
  for (let second = 0; second < seconds; second++) {
    for (let taken = 0; taken < bytesASecond;) {
      const { value, done } = await body.read().catch(() => ({ value: undefined, done: true }));
      if (done) return second;
      taken += value!.length;
    }
    vi.advanceTimersByTime(secondMs);
  }
  return seconds;
}

test.each(PATHS)("%s: a reader who is ten seconds late loses its slot", async (path) => {
  const ask = serve({ maxConcurrent: 2, maxWaiting: 0 });
  const quick = bodyOf(await ask(path));
  const slow = bodyOf(await ask(path));
  await trickle(slow, 60_000, 12);
  await trickle(quick, 2 ** 20, 1);
  expect((await ask(path)).status).toBe(503); // 60 KB a second, for 13 s: 9.9 s late
  await trickle(slow, 60_000, 2);
  await trickle(quick, 2 ** 20, 1);
  const next = await ask(path);
  expect(next.status).toBe(200);
  await expect(slow.read()).rejects.toThrow("another caller needed its slot");
  expect((await quick.read()).done).toBe(false);
  expect((await ask(path)).status).toBe(503);
});

test.each(PATHS)(
  "%s: while nobody needs its slot, a reader may be two minutes late",
  async (path) => {
    const ask = serve({});
    const slow = await trickle(bodyOf(await ask(path)), 1, 1_000, 3_000); // a piece every three seconds
    expect(slow).toBeGreaterThan(50);
    expect(slow).toBeLessThan(70);
    const phone = await trickle(bodyOf(await ask(path)), 50_000, 1_000); // two pieces a second
    expect(phone).toBeGreaterThan(550); // the whole answer
    expect(phone).toBeLessThan(650);
  },
);

test("readers without a credential leave room for those with one", async () => {
  const tokens = memoryTokenStore();
  const { secret } = await createApiKey(tokens, { ownerId: "ada", name: "ada" });
  const ask = serve({ maxConcurrent: 4, maxWaiting: 0, tokens });
  const strangers = [];
  for (let n = 0; n < 3; n++) strangers.push(bodyOf(await ask("/api/search")));
  expect((await ask("/api/search")).status).toBe(503);
  const key = bearer(secret);
  const known = bodyOf(await ask("/api/stream_search", key));
  expect((await ask("/api/search", key)).status).toBe(503);
  await strangers.pop()!.cancel();
  await ask("/api/search", key);
  vi.advanceTimersByTime(20_000); // all readers are late now
  await Promise.all(strangers.map((body) => body.read()));
  await known.read();
  expect((await ask("/api/search")).status).toBe(200); // in place of a reader without a credential
  expect((await known.read()).done).toBe(false);
});

test("if nobody has a credential, readers without one get all slots", async () => {
  const ask = serve({ maxConcurrent: 4, maxWaiting: 0 });
  for (let n = 0; n < 4; n++) expect((await ask("/api/search")).status).toBe(200);
  expect((await ask("/api/search")).status).toBe(503);
});
