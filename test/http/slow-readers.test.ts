/**
 * Revocation affects an answer that is on its way to a slow reader. The answer ends before its next piece, or within a
 * second if the reader takes none.
 */

import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { toNodeListener } from "../../src/http/node-listener.ts";
import type { FileResult } from "../../src/search/messages/response.ts";
import { listen } from "./mounts.ts";
import { chunkEvent, emptyResponse, scriptedEngine } from "./scripted.ts";
import { bearer, mint, NOW, startService, type Service } from "./service.ts";

const MIB = 2 ** 20;

/** Returns 200 MiB of equal files, which are made while they are read. */
function endless(): FileResult[] {
  const [file] = (chunkEvent() as { files: FileResult[] }).files;
  return Array<FileResult>(2_000).fill({ ...file!, content: "x".repeat(100_000) });
}

const engine = scriptedEngine({
  search: async () => ({ ...emptyResponse(), files: endless() }),
  async *stream() {
    for (;;)
      yield { ...chunkEvent(), files: endless().slice(0, 50) } as ReturnType<typeof chunkEvent>;
  },
});

/** A client that reads at most 64 KiB every few milliseconds, about 10 MB a second, until it is paused. */
class SlowReader {
  bytes = 0;
  last = "";
  isPaused = false;
  readonly closed: Promise<void>;
  readonly #socket: Socket;

  constructor(origin: string, request: string) {
    this.#socket = connect(Number(new URL(origin).port), "127.0.0.1");
    this.closed = new Promise((resolve) => this.#socket.once("close", () => resolve()));
    this.#socket.on("error", () => {}); // the connection may be reset
    this.#socket.on("data", (part: Buffer) => {
      this.bytes += part.length;
      this.last = part.subarray(-400).toString("latin1");
      this.#socket.pause();
      if (!this.isPaused) setTimeout(() => this.resume(), 5);
    });
    this.#socket.write(request);
  }

  resume(): void {
    this.isPaused = false;
    this.#socket.resume();
  }
}

type Lose = (service: Service, id: string) => unknown;
const LOSSES: [string, Lose, string][] = [
  ["its token is revoked", ({ tokens }, id) => tokens.revoke(id, NOW), "NOT_AUTHENTICATED"],
  [
    "its owner sees less",
    ({ visible }) => visible.set("ada", new Set([2])),
    "INSUFFICIENT_PERMISSIONS",
  ],
];

test.each(
  ["/api/search", "/api/stream_search"].flatMap((path) =>
    LOSSES.flatMap(([name, lose, code]) => [
      [path, "reads steadily", name, lose, code] as const,
      [path, "takes nothing", name, lose, code] as const,
    ]),
  ),
)("%s: who %s is cut off when %s", async (path, pace, _name, lose, code) => {
  const service = await startService({ maxConcurrent: 1, maxWaiting: 0 }, engine);
  await using server = await listen(createServer(toNodeListener(service.handler)));
  const { id, token } = await mint(service, service.keys.ada, [1]);
  const body = JSON.stringify({ query: "x", matches: 1 });
  const head = [
    `POST ${path} HTTP/1.1`,
    "Host: x",
    "Connection: close",
    `Content-Length: ${body.length}`,
    `Authorization: Bearer ${token}`,
  ];
  const reader = new SlowReader(server.origin, `${head.join("\r\n")}\r\n\r\n${body}`);
  while (reader.bytes < MIB) await sleep(5);
  reader.isPaused = pace === "takes nothing";
  await lose(service, id);
  const before = reader.bytes;
  const isFree = async () => {
    const init = { method: "POST", body, headers: bearer(service.keys.bob) };
    const { status, body: answer } = await server.client("/api/search", init);
    await answer?.cancel();
    return status === 200;
  };
  while (!(await isFree())) await sleep(50); // its slot
  reader.resume();
  await reader.closed;
  // the data that the kernels' buffers held, and a steady reader's data of a tenth of a second
  expect(reader.bytes - before).toBeLessThan(16 * MIB);
  if (reader.last.includes('"type":"error"'))
    expect(reader.last).toContain(`"errorCode":"${code}"`);
  const saysWhy = /"type":"error"[^]*\r\n0\r\n\r\n$/.test(reader.last);
  const looksWhole = reader.last.endsWith("\r\n0\r\n\r\n");
  expect(looksWhole).toBe(path === "/api/stream_search" && saysWhy);
});
