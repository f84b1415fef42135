/** Calls that take long. The client is told that they are running, and may leave at any time. */

import { tracingChannel } from "node:diagnostics_channel";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";
import type { Engine } from "../../src/engine.ts";
import { createHandler, toNodeListener } from "../../src/http/index.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { createMcpHandler } from "../../src/mcp/index.ts";
import { Sessions, SESSION } from "../../src/mcp/sessions.ts";
import type { SearchTrace } from "../../src/tracing.ts";
import { openEngine } from "../engine/opened.ts";
import { connected } from "./connected.ts";

/** Makes an engine whose searches wait for something. */
async function waiting(until: (signal: AbortSignal | undefined) => Promise<void>): Promise<Engine> {
  const engine = await openEngine();
  await engine.index(documents({ name: "r", files: [{ path: "a.ts", content: "needle" }] }));
  return new Proxy(engine, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name !== "search") return typeof value === "function" ? value.bind(target) : value;
      return async (...args: Parameters<Engine["search"]>) => {
        await until(args[1]?.signal);
        return target.search(...args);
      };
    },
  });
}

const ERAS = ["2025", "2026"];
const CALL = { name: "search", arguments: { query: "needle" } };

test.each(ERAS)("era %s: progress is reported, and increases", async (era) => {
  let go = () => {};
  const isTold = new Promise<void>((resolve) => (go = resolve));
  const client = await connected(createMcpHandler(await waiting(() => isTold)), { era });
  const told: { progress: number; message?: string | undefined }[] = [];
  const onprogress = (one: { progress: number; message?: string | undefined }): void => {
    if (told.push(one) === 2) go();
  };
  const { content } = await client.callTool(CALL, { onprogress });
  expect(content).toMatchObject([{ text: expect.stringContaining("1: needle") as string }]);
  expect(told.slice(0, 2)).toMatchObject([
    { progress: 1, message: "at work for 0.5 s" },
    { progress: 2, message: "at work for 1 s" },
  ]);
});

/** Makes searches that run until they are told to end, and records when that happens. */
function endless() {
  let begin = () => {};
  const begun = new Promise<void>((resolve) => (begin = resolve));
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const until = (signal: AbortSignal | undefined): Promise<void> =>
    new Promise((_, reject) => {
      begin();
      signal!.addEventListener("abort", () => {
        end();
        reject(signal!.reason as Error);
      });
    });
  return { begun, ended, until };
}

test.each(ERAS)("era %s: a call ends when its client gives up", async (era) => {
  const { begun, ended, until } = endless();
  const client = await connected(createMcpHandler(await waiting(until)), { era });
  const leaving = new AbortController();
  const call = client.callTool(CALL, { signal: leaving.signal }).catch((error: unknown) => error);
  await begun;
  leaving.abort(new Error("left"));
  expect(await call).toBeInstanceOf(Error);
  await ended;
});

/** Starts a server on this machine, with one slot. */
async function served(engine: Engine): Promise<() => Promise<Client>> {
  const handler = createHandler(engine, {
    anonymous: "all",
    mcp: true,
    maxConcurrent: 1,
    maxWaiting: 0,
  });
  const server = createServer(toNodeListener(handler)).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = new URL(`http://127.0.0.1:${port}/api/mcp`);
  return async () => {
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(url));
    onTestFinished(() => client.close());
    return client;
  };
}

/** Records what happens to searches for this query. */
function tracesOf(query: string) {
  const ended: SearchTrace[] = [];
  let begin = () => {};
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const isOurs = (trace: SearchTrace): boolean => trace.request.query === query;
  const channel = tracingChannel<unknown, SearchTrace>("quern:search");
  const onStart = (message: unknown): void => void (isOurs(message as SearchTrace) && begin());
  const onEnd = (message: unknown): void => {
    if (isOurs(message as SearchTrace)) ended.push(message as SearchTrace);
  };
  channel.start.subscribe(onStart);
  channel.asyncEnd.subscribe(onEnd);
  onTestFinished(() => {
    channel.start.unsubscribe(onStart);
    channel.asyncEnd.unsubscribe(onEnd);
  });
  return { begun, ended };
}

const SLOW = "needle slow";

/** Makes an engine that repeats each search again and again, like one that has a lot to read. */
async function neverDone(): Promise<Engine> {
  const engine = await openEngine({ workers: 0 });
  await engine.index(documents({ name: "r", files: [{ path: "a.ts", content: "needle slow" }] }));
  return new Proxy(engine, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name !== "search") return typeof value === "function" ? value.bind(target) : value;
      return async (...args: Parameters<Engine["search"]>) => {
        while (args[0].query === SLOW) {
          await target.search(...args);
          await setImmediate();
        }
        return target.search(...args);
      };
    },
  });
}

const WAYS = ["cancels the call", "closes the connection"];

test.each(WAYS)("a client of 2025 that %s: the search stops", async (way) => {
  const connect = await served(await neverDone());
  const [client, other] = [await connect(), await connect()];
  const { begun, ended } = tracesOf(SLOW);
  const leaving = new AbortController();
  const asked = { name: "search", arguments: { query: SLOW } };
  const call = client.callTool(asked, { signal: leaving.signal }).catch((error: unknown) => error);
  await begun;
  expect(await other.callTool(CALL)).toMatchObject({ isError: true }); // there is one slot
  if (way === WAYS[0]) leaving.abort(new Error("left"));
  else await client.close();
  expect(await call).toBeInstanceOf(Error);
  await expect.poll(() => ended.at(-1)?.error).toMatchObject({ code: "ABORTED" });
  const searches = ended.length;
  await expect.poll(async () => (await other.callTool(CALL)).isError === true).toBe(false);
  expect(ended).toHaveLength(searches);
});

// ── sessions ──

const post = (session: string | undefined) =>
  new Request("http://localhost/mcp", {
    method: "POST",
    body: "{}",
    headers: session === undefined ? {} : { [SESSION]: session },
  });
const cancels = (requestId: unknown) => ({
  method: "notifications/cancelled",
  params: { requestId },
});

test.each([
  ["the same session and id", "a", cancels(1), true],
  ["another session", "b", cancels(1), false],
  ["no session", undefined, cancels(1), false],
  ["another id", "a", cancels(2), false],
  ["an id of another type", "a", cancels("1"), false],
  ["no id", "a", { method: "notifications/cancelled" }, false],
  ["another notification", "a", { method: "notifications/initialized" }, false],
  ["several messages", "a", [cancels(1)], false],
  ["no message", "a", undefined, false],
  ["null", "a", null, false],
])("a call is ended by %s: %s", (_, session, message, isEnded) => {
  const sessions = new Sessions();
  const { signal } = sessions.begin(post("a"), { id: 1, method: "tools/call" });
  sessions.begin(post(session), message);
  expect(signal.aborted).toBe(isEnded);
});

test("a call is forgotten when its answer was read or left, or its client is gone", async () => {
  const sessions = new Sessions();
  const call = { id: 1, method: "tools/call" };
  const read = sessions.begin(post("a"), call).answer(new Response("text"));
  expect(sessions.size).toBe(1);
  expect(await read.text()).toBe("text");
  expect(sessions.size).toBe(0);
  await sessions.begin(post("a"), call).answer(new Response("text")).body!.cancel();
  expect(sessions.size).toBe(0);
  sessions.begin(post("a"), call).answer(new Response(null, { status: 202 }));
  expect(sessions.size).toBe(0);
  const gone = new AbortController();
  sessions.begin(new Request(post("a"), { signal: gone.signal }), call);
  gone.abort();
  expect(sessions.size).toBe(0);
});

test("a session belongs to one client", () => {
  const sessions = new Sessions();
  const given = () =>
    sessions.begin(post(undefined), { id: 0, method: "initialize" }).answer(new Response("{}"));
  const ids = [given(), given()].map(({ headers }) => headers.get(SESSION));
  expect(new Set(ids).size).toBe(2);
  const refused = new Response("no", { status: 400 });
  const answer = sessions.begin(post(undefined), { id: 0, method: "initialize" }).answer(refused);
  expect(answer.headers.has(SESSION)).toBe(false);
});
