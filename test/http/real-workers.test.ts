/**
 * What a client does to threads that really search: one that leaves stops them, one that does not
 * read holds neither them nor memory. Measured in CPU time, which other load on the machine does not stretch.
 */

import { connect } from "node:net";
import { createServer } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { open, type Engine } from "../../src/engine.ts";
import { createHandler } from "../../src/http/handler.ts";
import { toNodeListener } from "../../src/http/node-listener.ts";
import { documents } from "../../src/ingest/documents.ts";
import { listen, type Mounted } from "./mounts.ts";

const WORKERS = 2;
const path = mkdtempSync(join(tmpdir(), "quern-workers-"));
let engine: Engine;
let server: Mounted & { origin: string };

/** Words of few letters, the same ones each time. */
function* words(): Generator<string, never> {
  for (let state = 1; ;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield (state % 2 ** 30).toString(26).replace(/\d/g, "x");
  }
}

beforeAll(async () => {
  engine = await open(path, { workers: WORKERS });
  const word = words();
  const line = () => `${Array.from({ length: 9 }, () => word.next().value).join(" ")}\n`;
  const files = Array.from({ length: 4000 }, (_, n) => ({
    path: `${n}.txt`,
    content: `file ${n}\n${Array.from({ length: 60 }, line).join("")}`,
  }));
  await engine.index(documents({ name: "big", files }), { symbols: "skip" });
  const handler = createHandler(engine, { anonymous: "all", timeoutMs: 120_000 });
  server = await listen(createServer(toNodeListener(handler)));
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await engine.close();
  rmSync(path, { recursive: true, force: true });
});

/** Takes RE2 some 5 ms a file: nothing to look up, and more states than an automaton may have. */
const slow = {
  query: "[a-h].{60}[i-p]x.{30}[a-c]x[a-c]{2}x",
  matches: 100_000,
  isRegexEnabled: true,
};

const cpuMs = (since?: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
};

/** A client that sends the search and leaves when it is told to. */
function ask(
  route: string,
  body: object,
): { leave: () => void; socket: ReturnType<typeof connect> } {
  const { hostname, port } = new URL(server.origin);
  const socket = connect({ host: hostname, port: Number(port) });
  const text = JSON.stringify(body);
  socket.write(
    `POST ${route} HTTP/1.1\r\nHost: x\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
  );
  return { socket, leave: () => socket.destroy() };
}

test.each(["/api/search", "/api/stream_search"])(
  "%s: threads stop when the client leaves",
  async (route) => {
    const start = process.cpuUsage();
    const { leave } = ask(route, slow);
    while (cpuMs(start) < 200) await sleep(10);
    leave();
    await sleep(500); // 50 ms of work for each thread, on a machine that has other things to do
    const before = process.cpuUsage();
    await sleep(700);
    expect(cpuMs(before)).toBeLessThan(100);
  },
);

/** Bytes that are really held, without what only waits to be collected. */
async function heldBytes(): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  await sleep(50);
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

test("a client that does not read holds neither memory nor threads, and gets all in the end", async () => {
  const everything = { query: "file", matches: 100_000, contextLines: 1000, whole: true };
  const want = (await engine.search({ ...everything, matches: 0 })).stats.fileCount;
  const before = await heldBytes();
  const { socket, leave } = ask("/api/stream_search", everything);
  socket.pause();
  await sleep(1500);
  expect((await heldBytes()) - before).toBeLessThan(12 * 2 ** 20); // all of it would be 40 MiB and more
  const start = process.cpuUsage();
  expect((await engine.search({ query: "no such thing", matches: 1 })).files).toEqual([]);
  expect(cpuMs(start)).toBeLessThan(200);
  let text = "";
  for await (const part of socket.resume()) {
    text += String(part).replaceAll(/[^"]{500,}/g, ""); // without the content
    if (text.includes("[DONE]")) break;
  }
  const files = text.split('"fileName"').length - 1;
  leave();
  expect(files).toBe(want);
});
