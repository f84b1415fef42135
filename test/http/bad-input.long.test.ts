/**
 * More than a hundred requests that are wrong in one way each. Each gets its status and the error object. After each
 * the service has the same state as before, and at the end its files do, too.
 */

import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { lmdbTokenStore, lmdbUserStore } from "../../src/auth/lmdb-stores.ts";
import { toNodeListener } from "../../src/http/node-listener.ts";
import { answerUnreadable } from "../../src/http/unreadable.ts";
import { STATUS } from "../../src/http/refusal.ts";
import { BAD_REQUESTS, bytes, good, MINT, SEARCH, type Code } from "./bad-requests.ts";
import { openEngine } from "./engine.ts";
import { listen } from "./mounts.ts";
import { bearer, clientOf, FIXTURES, mint, post, startService, type Service } from "./service.ts";

const engine = await openEngine(FIXTURES);
let service: Service;
let kept: { id: string; token: string };
let server: Awaited<ReturnType<typeof listen>>;
let before: unknown;
let filesBefore: string;
let refused = 0;
const accounts = mkdtempSync(join(tmpdir(), "quern-accounts-"));
const [tokens, users] = [lmdbTokenStore(accounts), lmdbUserStore(accounts)];
beforeAll(async () => {
  service = await startService({ maxBodyBytes: 10_000, tokens, users }, engine);
  kept = await mint(service, service.keys.ada, [service.ids["acme/open"]!]);
  const host = createServer({ requireHostHeader: false }, toNodeListener(service.handler));
  answerUnreadable(host);
  server = await listen(host);
  before = await state();
  filesBefore = digest(engine.path);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await tokens[Symbol.asyncDispose]();
  await users[Symbol.asyncDispose]();
  rmSync(accounts, { recursive: true });
});

/** Resolves to everything that a request could change. */
async function state(): Promise<unknown> {
  const records = [];
  for (const owner of ["owner", "ada", "bob"])
    for await (const { lastUsedAt: _, ...record } of tokens.list(owner)) records.push(record);
  const members = [];
  for await (const user of users.list()) members.push(user);
  const { files } = await engine.search({ query: "needle", matches: 1000 });
  return structuredClone({ records, members, repositories: await engine.repositories(), files });
}

/** Returns a digest of every byte of the data directory, except the list of its readers. */
function digest(path: string): string {
  const files = readdirSync(path).filter((name) => !name.endsWith("-lock"));
  expect(files).toContain("quern.mdb");
  const hash = createHash("sha256");
  for (const name of files.sort()) hash.update(name).update(readFileSync(join(path, name)));
  return hash.digest("hex");
}

test.each(BAD_REQUESTS)("%s", async (_name, path, init, code) => {
  for (const client of [clientOf(service.handler), server.client]) {
    const response = await client(path, init(service.keys.ada));
    const text = await response.text();
    expect([response.status, text]).toEqual([STATUS[code], expect.stringContaining(code)]);
    expect(JSON.parse(text)).toEqual({
      statusCode: STATUS[code],
      errorCode: code,
      message: expect.any(String),
    });
    refused++;
  }
  expect(await state()).toEqual(before);
});

test("unusual but valid requests are accepted", async () => {
  const client = clientOf(service.handler);
  const bodies = [
    `\ufeff${JSON.stringify(good)}`,
    '{"matches":1,"query":"needle","__proto__":{"whole":1},"constructor":null,"extra":[]}',
    '{"query":"no","query":"needle","matches":1.0}',
    '{"query":"needle","matches":1e0}',
    ' \n{"query":"needle","matches":1}\t ',
  ];
  for (const body of bodies) {
    const response = await client(SEARCH, bytes(body)(service.keys.ada));
    expect(response.status, body).toBe(200);
  }
  for (const type of [
    "APPLICATION/JSON",
    "application/json;charset=utf-8",
    "application/vnd.x+json",
  ]) {
    const response = await client(
      MINT,
      bytes('{"repoIds":[1]}', { "Content-Type": type })(service.keys.ada),
    );
    expect(response.status, type).toBe(201);
  }
  before = await state();
});

// ── requests that a fetch client would not send ──

/** Resolves to what the server answers to these bytes before it ends the connection. */
async function raw(text: string, origin = server.origin): Promise<string> {
  const { hostname, port } = new URL(origin);
  const socket = connect({ host: hostname, port: Number(port) });
  let said = "";
  socket.on("data", (part) => (said += part.toString("latin1")));
  socket.write(text, "latin1");
  await once(socket, "close");
  return said;
}

/** Returns the error in an answer, which may come in chunks. */
const errorIn = (said: string) => JSON.parse(/\{.*\}/s.exec(said)?.[0] ?? "null") as unknown;

const lines = (...parts: string[]) => `${parts.join("\r\n")}\r\nConnection: close\r\n\r\n`;
const authorized = () => `Authorization: Bearer ${service.keys.ada}`;

/** Other text that the answer must contain. */
type Told = RegExp;

test.each<[string, () => string, number, Code?, Told?]>([
  [
    "two credentials",
    () => lines("GET /api/repos HTTP/1.1", "Host: x", authorized(), authorized()),
    401,
    "NOT_AUTHENTICATED",
  ],
  [
    "a credential and another",
    () => lines("GET /api/repos HTTP/1.1", "Host: x", authorized(), "Authorization: Bearer x"),
    401,
    "NOT_AUTHENTICATED",
  ],
  [
    "two key headers",
    () =>
      lines(
        "GET /api/repos HTTP/1.1",
        "Host: x",
        `X-Quern-Api-Key: ${service.keys.ada}`,
        "X-Quern-Api-Key: x",
      ),
    401,
    "NOT_AUTHENTICATED",
  ],
  [
    "a strange host",
    () => lines("GET /api/repos HTTP/1.1", "Host: a b/../c?d#e@f:99999", authorized()),
    200,
  ],
  [
    "a host that holds a path",
    () => lines("GET /api/nope HTTP/1.1", "Host: x/api/health?", authorized()),
    404,
    "NOT_FOUND",
  ],
  [
    "a host with a password",
    () => lines("GET /api/repos HTTP/1.1", "Host: u:p@x", authorized()),
    200,
  ],
  [
    "a whole URL with a password",
    () => lines("GET http://u:p@x/api/repos HTTP/1.1", "Host: x", authorized()),
    200,
  ],
  ["no host in HTTP/1.0", () => lines("GET /api/repos HTTP/1.0", authorized()), 200],
  [
    "no host in HTTP/1.1",
    () => lines("GET /api/repos HTTP/1.1", authorized()),
    400,
    "INVALID_REQUEST_BODY",
  ],
  [
    "two hosts",
    () => lines("GET /api/repos HTTP/1.1", "Host: x", "Host: y", authorized()),
    400,
    "INVALID_REQUEST_BODY",
  ],
  [
    "CONNECT",
    () => lines("CONNECT x:443 HTTP/1.1", "Host: x:443", authorized()),
    405,
    "METHOD_NOT_ALLOWED",
    /^allow: GET, HEAD, POST, DELETE, OPTIONS\r?$/im,
  ],
  [
    "a whole URL",
    () => lines("GET http://elsewhere/api/repos HTTP/1.1", "Host: x", authorized()),
    200,
  ],
  [
    "a whole URL of another kind",
    () => lines("GET ftp:/// HTTP/1.1", "Host: x", authorized()),
    404,
    "NOT_FOUND",
  ],
  ["no path", () => lines("OPTIONS * HTTP/1.1", "Host: x"), 404, "NOT_FOUND"],
  [
    "TRACE",
    () => lines("TRACE /api/search HTTP/1.1", "Host: x", authorized()),
    405,
    "METHOD_NOT_ALLOWED",
    /^allow: POST, OPTIONS\r$/im,
  ],
  [
    "TRACE of another path",
    () => lines("TRACE /api/repos HTTP/1.1", "Host: x", authorized()),
    405,
    "METHOD_NOT_ALLOWED",
    /^allow: GET, HEAD, OPTIONS\r$/im,
  ],
  [
    "dots that are not resolved",
    () => lines("GET /api/x/../repos HTTP/1.1", "Host: x", authorized()),
    200,
  ],
  [
    "a length that is no number",
    () => lines("POST /api/search HTTP/1.1", "Host: x", authorized(), "Content-Length: x"),
    400,
    "INVALID_REQUEST_BODY",
  ],
  [
    "two lengths",
    () =>
      lines(
        "POST /api/search HTTP/1.1",
        "Host: x",
        authorized(),
        "Content-Length: 1",
        "Content-Length: 2",
      ),
    400,
    "INVALID_REQUEST_BODY",
  ],
  [
    "a length and chunks",
    () =>
      lines(
        "POST /api/search HTTP/1.1",
        "Host: x",
        authorized(),
        "Content-Length: 1",
        "Transfer-Encoding: chunked",
      ),
    400,
    "INVALID_REQUEST_BODY",
  ],
  [
    "a NUL in the path",
    () => lines("GET /api/\0 HTTP/1.1", "Host: x", authorized()),
    400,
    "INVALID_REQUEST_BODY",
  ],
  [
    "a NUL in a header",
    () => lines("GET /api/repos HTTP/1.1", "Host: x", "Authorization: Bearer \0"),
    400,
    "INVALID_REQUEST_BODY",
  ],
  [
    "bytes above ASCII in a credential",
    () => lines("GET /api/repos HTTP/1.1", "Host: x", "Authorization: Bearer \xff\xfe"),
    401,
    "NOT_AUTHENTICATED",
  ],
  [
    "bytes above ASCII in the path",
    () => lines("GET /api/\xff HTTP/1.1", "Host: x", authorized()),
    400,
    "INVALID_REQUEST_BODY",
  ],
  [
    "headers without end",
    () => lines("GET /api/repos HTTP/1.1", "Host: x", `X: ${"x".repeat(20_000)}`),
    431,
    "HEADERS_TOO_LARGE",
  ],
  [
    "an expectation of nonsense",
    () => lines("POST /api/search HTTP/1.1", "Host: x", authorized(), "Expect: nonsense"),
    417,
    "EXPECTATION_FAILED",
  ],
])("over the wire: %s", async (_name, text, status, ...more) => {
  const [code, told = /(?:)/] = more;
  const said = await raw(text());
  const [head = ""] = said.split("\r\n\r\n");
  expect(head).toMatch(new RegExp(`^HTTP/1\\.[01] ${status} `));
  expect(head).toMatch(told);
  if (code !== undefined) {
    const error = { statusCode: status, errorCode: code, message: expect.any(String) as string };
    expect(errorIn(said)).toEqual(error);
    refused++;
  }
  expect(await state()).toEqual(before);
});

test.each([
  ["headers", "GET /api/repos HTTP/1.1\r\nHost: x\r\n"],
  ["a body", "POST /api/search HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{"],
])("%s that arrive too slowly are answered with 408", async (_name, text) => {
  const limits = { connectionsCheckingInterval: 20, headersTimeout: 60, requestTimeout: 120 };
  const host = createServer(
    limits,
    toNodeListener(async (request) => {
      await request.text();
      return new Response("too late");
    }),
  );
  answerUnreadable(host);
  await using mounted = await listen(host);
  const said = await raw(text, mounted.origin);
  expect(said).toMatch(/^HTTP\/1\.1 408 /);
  expect(errorIn(said)).toEqual({
    statusCode: 408,
    errorCode: "REQUEST_TIMEOUT",
    message: expect.any(String),
  });
});

test("a tunnel that the host opens itself is left to the host", async () => {
  const host = createServer(toNodeListener(service.handler));
  answerUnreadable(host);
  host.on("connect", (_req, socket) => socket.end("HTTP/1.1 200 OK\r\n\r\nours"));
  await using mounted = await listen(host);
  const said = await raw("CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n", mounted.origin);
  expect(said).toBe("HTTP/1.1 200 OK\r\n\r\nours");
});

test("a client that resets its connection after CONNECT does no harm", async () => {
  const { hostname, port } = new URL(server.origin);
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, "connect");
  socket.write("CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n");
  socket.resetAndDestroy();
  expect((await server.client("/api/health")).status).toBe(200);
});

test("an unreadable request ends a begun answer, and writes nothing into it", async () => {
  const handler = async () =>
    new Response(new ReadableStream({ start: (c) => c.enqueue(bytesOf("begun")) }));
  const host = createServer(toNodeListener(handler));
  answerUnreadable(host);
  await using mounted = await listen(host);
  const { hostname, port } = new URL(mounted.origin);
  const socket = connect({ host: hostname, port: Number(port) });
  let said = "";
  socket.on("data", (part) => {
    said += part.toString("latin1");
    if (said.endsWith("begun\r\n")) socket.write("no chunk\r\n");
  });
  socket.on("error", () => {}); // the connection is reset
  socket.write("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  await once(socket, "close");
  expect(said.split("\r\n\r\n")[1]).toBe("5\r\nbegun\r\n");
});
const bytesOf = (text: string) => new TextEncoder().encode(text);

test("the first token is still valid", async () => {
  const response = await clientOf(service.handler)(SEARCH, post(good, bearer(kept.token)));
  expect(response.status).toBe(200);
});

test("hundreds of requests were rejected, and the data directory has the same bytes as before", async () => {
  expect(BAD_REQUESTS.length).toBeGreaterThan(150);
  expect(refused).toBeGreaterThan(2 * BAD_REQUESTS.length);
  expect(digest(engine.path)).toBe(filesBefore);
  expect((await engine.check()).problems).toEqual([]);
});
