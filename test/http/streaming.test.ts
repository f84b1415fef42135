/** Bodies in transit over a real socket: in both directions, slow, broken off, and more of them than are allowed. */

import express from "express";
import { once } from "node:events";
import { createServer, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { createHandler, type Handler } from "../../src/http/handler.ts";
import { eventStream } from "../../src/http/event-stream.ts";
import { toNodeListener } from "../../src/http/node-listener.ts";
import type { SearchOptions } from "../../src/search/messages/request.ts";
import type { FileResult, SearchResponse } from "../../src/search/messages/response.ts";
import { openEngine } from "./engine.ts";
import { events } from "./interface.ts";
import { listen, MOUNTS } from "./mounts.ts";
import {
  aborted,
  chunkEvent,
  emptyResponse,
  finalEvent,
  gate,
  scriptedEngine,
} from "./scripted.ts";
import { clientOf, FIXTURES, post } from "./service.ts";

const search = post({ query: "x", matches: 1 });
const serve = (script: Parameters<typeof scriptedEngine>[0], options = {}) =>
  createHandler(scriptedEngine(script), { anonymous: "all", ...options });

const text = (part: Uint8Array | undefined) => Buffer.from(part ?? []).toString();

/** Resolves once the condition holds. If it never does, the test reaches its time-out. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(5);
}

const SERVED = Object.entries(MOUNTS).filter(([name]) => name !== "the handler itself");

test.each(SERVED)("a chunk is read while the search goes on: %s", async (_name, mount) => {
  const goOn = gate();
  async function* stream() {
    yield chunkEvent("first");
    await goOn.opened;
    yield chunkEvent("second");
    yield finalEvent();
  }
  await using mounted = await mount(serve({ stream }));
  const response = await mounted.client("/api/stream_search", search);
  const reader = response.body!.getReader();
  expect(text((await reader.read()).value)).toContain("first");
  goOn.open(); // resumes only now, so the text above arrived while the search was running
  let rest = "";
  for (let part = await reader.read(); !part.done; part = await reader.read())
    rest += text(part.value);
  expect(rest).toMatch(/second[^]*final[^]*\[DONE\]/);
});

test.each(SERVED)("a client that leaves aborts its search: %s", async (_name, mount) => {
  const signals: (AbortSignal | undefined)[] = [];
  const began = gate();
  const script = {
    search: (options: SearchOptions) => {
      signals.push(options.signal);
      began.open();
      return aborted(options.signal);
    },
    async *stream(options: SearchOptions) {
      signals.push(options.signal);
      yield chunkEvent();
      await aborted(options.signal);
    },
  };
  await using mounted = await mount(serve(script, { maxConcurrent: 1, maxWaiting: 0 }));
  const leaving = new AbortController();
  const { signal } = leaving;
  const response = await mounted.client("/api/stream_search", { ...search, signal });
  await response.body!.getReader().read();
  leaving.abort();
  await until(() => signals[0]?.aborted === true);

  // its slot is free again, and a search that answers at its end is aborted in the same way
  const leavingToo = new AbortController();
  const answer = mounted.client("/api/search", { ...search, signal: leavingToo.signal });
  await began.opened;
  leavingToo.abort();
  await expect(answer).rejects.toThrow(/abort/i);
  await until(() => signals[1]?.aborted === true);
});

test("a client that does not read stops the search, and memory does not grow", async () => {
  const size = 100_000;
  let made = 0;
  async function* stream(options: SearchOptions) {
    while (!options.signal?.aborted) {
      made++;
      yield chunkEvent("x".repeat(size));
    }
  }
  await using server = await listen(createServer(toNodeListener(serve({ stream }))));
  const { hostname, port } = new URL(server.origin);
  const body = JSON.stringify({ query: "x", matches: 1 });
  const socket = connect({ host: hostname, port: Number(port) });
  socket.write(
    `POST /api/stream_search HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  socket.pause();
  await until(() => made > 0);
  let before = -1;
  while (before !== made) {
    before = made;
    await sleep(150);
  }
  expect(made * size).toBeLessThan(20_000_000); // what the kernel's socket buffers take
  socket.resume();
  await until(() => made > before + 20);
  socket.destroy();
  await sleep(50);
  const end = made;
  await sleep(50);
  expect(made).toBe(end);
});

test("the reader of a Response pulls, and nothing is produced in advance", async () => {
  let made = 0;
  async function* stream() {
    for (;;) {
      made++;
      yield chunkEvent();
    }
  }
  const response = await clientOf(serve({ stream }))("/api/stream_search", search);
  const reader = response.body!.getReader();
  for (let read = 1; read <= 5; read++) {
    await reader.read();
    expect(made).toBe(read);
  }
  await reader.cancel();
});

test("a stream that nobody reads ends after a while", async () => {
  const abort = new AbortController();
  const ends: unknown[] = [];
  let returned = false;
  async function* stream() {
    try {
      for (;;) yield chunkEvent();
    } finally {
      returned = true;
    }
  }
  const chunks = stream();
  const body = eventStream(await chunks.next(), chunks, {
    abort,
    confirm: async () => {},
    onEnd: (refusal) => ends.push(refusal?.code),
    stalledMs: 30,
  });
  const reader = body.getReader();
  await reader.read();
  await until(() => returned);
  expect([ends.length, abort.signal.aborted]).toEqual([1, true]);
  await expect(reader.read()).rejects.toThrow("was not read");
});

test("one search too many is answered with 503, and its slot is free when another ends", async () => {
  const goOn = gate();
  const script = {
    search: async () => (await goOn.opened, emptyResponse()),
    async *stream() {
      yield chunkEvent();
      await goOn.opened;
      yield finalEvent();
    },
  };
  const client = clientOf(serve(script, { maxConcurrent: 2, maxWaiting: 0 }));
  const one = client("/api/search", search);
  const two = await client("/api/stream_search", search);
  for (const path of ["/api/search", "/api/stream_search"]) {
    const refused = await client(path, search);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
  }
  expect((await client("/api/repos")).status).toBe(200);
  goOn.open();
  expect((await one).status).toBe(200);
  expect(events(await two.text()).length).toBe(2);
  const after = await Promise.all([client("/api/search", search), client("/api/search", search)]);
  expect(after.map(({ status }) => status)).toEqual([200, 200]);
});

// ── answers that wait for their readers ──

/** Returns an answer of 20 MB, more than a socket's buffers take. */
const longAnswer = (): SearchResponse => {
  const [file] = (chunkEvent() as { files: FileResult[] }).files;
  return { ...emptyResponse(), files: Array(200).fill({ ...file, content: "x".repeat(100_000) }) };
};
const MINUTE = 60_000;
let longAnswers: Handler;
const ask = (path = "/api/search") => clientOf(longAnswers)(path, search);

function fakeTimers(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
}

test.each<[string, (answer: Response) => unknown]>([
  ["it is read", (answer) => answer.text()],
  ["its reader leaves", (answer) => answer.body!.cancel()],
  ["nobody reads it for a minute", () => vi.advanceTimersByTime(MINUTE)],
  [
    "its reader takes nothing for a minute",
    async (answer) => {
      const reader = answer.body!.getReader();
      for (let read = 0; read < 3; read++) {
        vi.advanceTimersByTime(MINUTE - 1);
        await reader.read();
      }
      expect((await ask()).status).toBe(503);
      vi.advanceTimersByTime(MINUTE);
      await expect(reader.read()).rejects.toThrow("was not read");
    },
  ],
])("an answer keeps its slot until %s", async (_name, release) => {
  fakeTimers();
  longAnswers = serve({ search: async () => longAnswer() }, { maxConcurrent: 1, maxWaiting: 0 });
  const answer = await ask();
  for (const path of ["/api/search", "/api/stream_search"])
    expect((await ask(path)).status).toBe(503);
  await release(answer);
  expect((await ask()).status).toBe(200);
});

test("symbols keep their slot, too, and an answer that was made again has one slot", async () => {
  let seen: "public" | "all" = "all";
  const authenticate = async () => ({ kind: "session" as const, repositoryIds: seen });
  const listed = { search: async () => ((seen = "public"), longMatches()) };
  const handler = serve(listed, { maxConcurrent: 1, maxWaiting: 0, authenticate });
  const asked = post({ symbolName: "x" });
  const answer = await clientOf(handler)("/api/find_references", asked);
  expect(answer.status).toBe(200);
  expect((await clientOf(handler)("/api/find_references", asked)).status).toBe(503);
  await answer.text();
  expect((await clientOf(handler)("/api/find_references", asked)).status).toBe(200);
});

/** 10 000 matches. */
const longMatches = (): SearchResponse => {
  const [file] = (chunkEvent() as { files: FileResult[] }).files;
  const start = { byteOffset: 0, lineNumber: 1, column: 1 };
  const range = { start, end: { ...start, byteOffset: 1, column: 2 } };
  const chunk = { content: "x", contentStart: start, matchRanges: [range] };
  return { ...emptyResponse(), files: [{ ...file!, chunks: Array(10_000).fill(chunk) }] };
};

test.each(["/api/search", "/api/stream_search"])(
  "%s: clients that do not read hold no more than their places, and those for a minute",
  async (path) => {
    fakeTimers();
    async function* stream() {
      for (;;) yield { ...longAnswer(), type: "chunk" as const };
    }
    const handler = serve(
      { search: async () => longAnswer(), stream },
      { maxConcurrent: 2, maxWaiting: 0 },
    );
    const host = createServer(toNodeListener(handler));
    let [came, left] = [0, 0];
    host.on("connection", (connection) => ++came <= 2 && connection.once("close", () => left++));
    await using server = await listen(host);
    const slow = [askAndWait(server.origin, path), askAndWait(server.origin, path)];
    await Promise.all(slow.map(({ answered }) => answered));
    expect((await server.client(path, search)).status).toBe(503);
    const cutOff = slow.map(({ socket }) => once(socket, "close"));
    await until(() => {
      vi.advanceTimersByTime(MINUTE); // repeatedly, because the time counts from when the kernel's buffers are full
      return left === 2;
    });
    for (const { socket } of slow) socket.resume();
    await Promise.all(cutOff);
    expect(slow.map(({ end }) => end())).toEqual([false, false]); // otherwise they would look complete
    const after = await server.client(path, search);
    expect(after.status).toBe(200);
    await after.body!.cancel();
  },
);

/** A client that reads the start of its answer and then stops reading. */
function askAndWait(origin: string, path: string) {
  const { hostname, port } = new URL(origin);
  const socket = connect({ host: hostname, port: Number(port) });
  const body = JSON.stringify({ query: "x", matches: 1 });
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  let last = "";
  socket.on("data", (part: Buffer) => (last = part.toString("latin1")));
  socket.on("error", () => {}); // the server resets it
  const answered = once(socket, "data").then(() => socket.pause());
  return { socket, answered, end: () => last.endsWith("\r\n0\r\n\r\n") };
}

test("a search that fails frees its slot", async () => {
  const script = {
    search: () => Promise.reject(new Error("x")),
    // eslint-disable-next-line require-yield
    async *stream() {
      throw new Error("x");
    },
  };
  const client = clientOf(serve(script, { maxConcurrent: 1, maxWaiting: 0 }));
  for (let n = 0; n < 3; n++)
    for (const path of ["/api/search", "/api/stream_search"])
      expect((await client(path, search)).status).toBe(500);
});

test("the time limit is passed to the engine", async () => {
  let given: SearchOptions = {};
  const client = clientOf(
    serve({ search: async (options) => ((given = options), emptyResponse()) }, { timeoutMs: 1234 }),
  );
  await client("/api/search", search);
  expect(given.timeoutMs).toBe(1234);
});

// ── requests ──

const fixtures = await openEngine(FIXTURES);
const real = createHandler(fixtures, { anonymous: "all" });

test("a body that arrives in small parts is complete", async () => {
  await using server = await listen(createServer(toNodeListener(real)));
  const request = httpRequest(`${server.origin}/api/search`, { method: "POST" });
  for (const part of JSON.stringify({ query: "needle é", matches: 1 })) {
    request.write(part);
    await sleep(1);
  }
  request.end();
  const [response] = (await once(request, "response")) as [{ statusCode: number; resume(): void }];
  response.resume();
  expect(response.statusCode).toBe(200);
});

test("a body without an announced length is cut at the limit, and the answer still arrives", async () => {
  await using server = await listen(createServer(toNodeListener(real)));
  let sent = 0;
  const body = new ReadableStream({
    pull(controller) {
      if (sent > 50_000_000) return controller.close();
      sent += 65_536;
      controller.enqueue(new Uint8Array(65_536).fill(32));
    },
  });
  const init = { method: "POST", body, duplex: "half" } as RequestInit;
  const response = await server.client("/api/search", init);
  expect(response.status).toBe(413);
  await response.text();
  expect((await server.client("/api/health")).status).toBe(200);
});

test("a body that breaks off changes nothing and does no harm", async () => {
  await using server = await listen(createServer(toNodeListener(real)));
  const { hostname, port } = new URL(server.origin);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.write('POST /api/search HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"query"');
  await sleep(20);
  socket.destroy();
  expect((await server.client("/api/search", search)).status).toBe(200);
});

test("behind express.json(), the body is still available", async () => {
  const app = express().use(express.json(), express.text()).use(toNodeListener(real));
  await using server = await listen(createServer(app));
  const body = { query: "needle", matches: 1, whole: true };
  expect((await server.client("/api/search", post(body))).status).toBe(200);
  const asText = await server.client("/api/search", post(body, { "Content-Type": "text/plain" }));
  expect(asText.status).toBe(200);
  expect((await server.client("/api/search", post({ ...body, matches: -1 }))).status).toBe(400);
});

test("several headers of one name all reach the client, and a body that breaks off breaks the connection", async () => {
  const handler = async (request: Request): Promise<Response> => {
    if (new URL(request.url).pathname === "/throws") throw new Error("not ours");
    const headers = new Headers([
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2"],
      ["x-a", "1"],
      ["x-a", "2"],
    ]);
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(new Uint8Array(10));
        if (request.url.endsWith("/breaks")) controller.error(new Error("gone"));
        else controller.close();
      },
    });
    return new Response(body, { headers });
  };
  await using server = await listen(createServer(toNodeListener(handler)));
  const whole = await server.client("/");
  expect(whole.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  expect(whole.headers.get("x-a")).toBe("1, 2");
  expect((await whole.arrayBuffer()).byteLength).toBe(10);
  await expect(
    server.client("/breaks").then((response) => response.arrayBuffer()),
  ).rejects.toThrow();
  const thrown = await server.client("/throws");
  expect([thrown.status, await thrown.json()]).toMatchObject([
    500,
    { errorCode: "UNEXPECTED_ERROR" },
  ]);
});
