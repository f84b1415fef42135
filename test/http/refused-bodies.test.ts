/** Bodies that are refused are not read, and their clients are told so. */

import express from "express";
import { once } from "node:events";
import { createServer, request as httpRequest, type Server } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { fetchHandler } from "../../src/base/direct-handlers.ts";
import { nodeHandler } from "../../src/cluster/node/node-handler.ts";
import { createHandler } from "../../src/http/handler.ts";
import { continueLate, toNodeListener } from "../../src/http/node-listener.ts";
import { answerUnreadable } from "../../src/http/unreadable.ts";
import { listen } from "./mounts.ts";
import { emptyResponse, scriptedEngine } from "./scripted.ts";

const MIB = 2 ** 20;
const engine = scriptedEngine({ search: async () => emptyResponse() });
const handler = createHandler(engine, { anonymous: "all", mcp: true });
const node = fetchHandler(
  nodeHandler({
    secret: "s",
    maxConcurrent: 4,
    answers: {},
    hold: async () => undefined,
  }),
);

/** Returns what a server has read of connections. */
function countRead(server: Server): { readonly bytes: number } {
  const sockets = new Set<{ bytesRead: number }>();
  server.on("connection", (socket) => sockets.add(socket));
  return {
    get bytes() {
      return [...sockets].reduce((sum, { bytesRead }) => sum + bytesRead, 0);
    },
  };
}

/**
 * Sends a head and then as much as the server accepts, even after the answer. Resolves to the answer once the server
 * has closed the connection.
 */
async function pour(origin: string, lines: readonly string[], piece: Buffer): Promise<string> {
  const socket = connect(Number(new URL(origin).port), "127.0.0.1");
  let answer = "";
  socket.on("data", (part: Buffer) => (answer += part.toString("latin1")));
  socket.on("error", () => {}); // the connection may be reset
  let isOpen = true;
  const closed = new Promise((done) => socket.once("close", done)).then(() => (isOpen = false));
  socket.write([...lines, "Host: localhost", "", ""].join("\r\n"));
  for (let sent = 0; isOpen && sent < 100 * MIB; sent += piece.length) {
    if (socket.write(piece)) continue;
    const taken = new Promise((done) => socket.once("drain", done));
    while ((await Promise.race([taken, closed, sleep(50, "nothing")])) === "nothing")
      if (answer !== "") vi.advanceTimersByTime(5_000); // the time for which the server waits
  }
  socket.destroy(); // if the server has accepted everything
  await closed;
  return answer;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
});

const LONG = "Content-Length: 99999999999";
const PLAIN = Buffer.alloc(65_536, "a");
const CHUNK = Buffer.from(`10000\r\n${"a".repeat(65_536)}\r\n`);

test.each<[what: string, status: number, lines: string[], piece?: Buffer]>([
  ["too long", 413, ["POST /api/search HTTP/1.1", LONG]],
  [
    "too long, without a length",
    413,
    ["POST /api/search HTTP/1.1", "Transfer-Encoding: chunked"],
    CHUNK,
  ],
  ["from a stranger", 401, ["POST /api/search HTTP/1.1", "Authorization: Bearer x", LONG]],
  ["for nobody", 404, ["POST /nothing HTTP/1.1", LONG]],
  ["for another method", 405, ["PUT /api/repos HTTP/1.1", LONG]],
  ["of a GET", 413, ["GET /api/repos HTTP/1.1", LONG]],
  ["of a GET of the open", 413, ["GET /api/health HTTP/1.1", LONG]],
  [
    "of an agent",
    413,
    [
      "POST /api/mcp HTTP/1.1",
      "Content-Type: application/json",
      "Accept: application/json, text/event-stream",
      LONG,
    ],
  ],
  [
    "of another coding",
    400,
    ["POST /api/search HTTP/1.1", "Transfer-Encoding: gzip, chunked"],
    CHUNK,
  ],
])("a body %s: %i, and not read to its end", async (_, status, lines, piece = PLAIN) => {
  const host = createServer(toNodeListener(handler));
  const read = countRead(host);
  await using server = await listen(host);
  const answer = await pour(server.origin, lines, piece);
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(answer).toMatch(/^connection: close\r$/im);
  expect(answer).toMatch(/"error(Code)?":.*\}$/s);
  expect(read.bytes).toBeLessThan(3 * MIB); // including maxBodyBytes, which is 1
});

test("the port of a node reads nothing of an unsigned call", async () => {
  const host = createServer(toNodeListener(node));
  const read = countRead(host);
  await using server = await listen(host);
  const answer = await pour(server.origin, ["POST /v1/search HTTP/1.1", LONG], PLAIN);
  expect(answer).toMatch(/^HTTP\/1.1 401 [^]*connection: close/i);
  expect(read.bytes).toBeLessThan(MIB);
});

test("a client that reads the refusal only afterwards receives it", async () => {
  await using server = await listen(createServer(toNodeListener(handler)));
  for (let n = 0; n < 5; n++) {
    const init = { method: "POST", body: Buffer.alloc(3 * MIB, 32) };
    const response = await server.client("/api/search", init);
    expect([response.status, (await response.json()) as object]).toMatchObject([
      413,
      { errorCode: "BODY_TOO_LARGE" },
    ]);
  }
});

test("after a short body that was not read, the connection is used again", async () => {
  await using server = await listen(createServer(toNodeListener(handler)));
  const socket = connect(Number(new URL(server.origin).port), "127.0.0.1");
  const answer = async () => ((await once(socket, "data")) as [Buffer])[0].toString();
  socket.write("POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
  expect(await answer()).toMatch("HTTP/1.1 404 ");
  socket.write(Buffer.alloc(100_000, "a"));
  socket.write("GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n");
  expect(await answer()).toMatch("HTTP/1.1 200 ");
  socket.destroy();
});

// ── Expect: 100-continue ──

/** Returns what happened: "continue", and the status. */
async function expecting(server: Server, path: string, body: string, length = body.length) {
  await using host = await listen(server);
  const headers = { Expect: "100-continue", "Content-Length": length };
  const request = httpRequest(host.origin + path, { method: "POST", headers });
  const happened: unknown[] = [];
  request.on("continue", () => {
    happened.push("continue");
    request.end(body);
  });
  request.on("error", () => {}); // the connection is closed in the middle of the body
  request.flushHeaders();
  const [response] = (await once(request, "response")) as [{ statusCode: number; resume(): void }];
  response.resume();
  onTestFinished(() => void request.destroy());
  return [...happened, response.statusCode];
}

const BODY = JSON.stringify({ query: "x", matches: 1 });
const served = (listener = toNodeListener(handler)): Server => {
  const server = createServer(listener);
  answerUnreadable(server);
  return server;
};

test("a client continues when its body is read", async () => {
  expect(await expecting(served(), "/api/search", BODY)).toEqual(["continue", 200]);
  expect(await expecting(served(), "/api/search", BODY, 99_999_999_999)).toEqual([413]);
  expect(await expecting(served(), "/nothing", BODY)).toEqual([404]);
});

test("behind a framework that reads bodies itself, a client continues immediately", async () => {
  const app = express().use(express.json({ type: () => true }), toNodeListener(handler));
  expect(await expecting(served(app), "/api/search", BODY)).toEqual(["continue", 200]);
});

test("the port of a node never lets an unauthenticated client continue", async () => {
  const server = createServer(toNodeListener(node));
  continueLate(server);
  expect(await expecting(server, "/v1/search", BODY)).toEqual([401]);
});
