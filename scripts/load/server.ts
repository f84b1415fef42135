/**
 * Runs the server of a load test: a real server on a port, with API keys and members. It sends its parent process the
 * port and a secret, then its memory every second. At the end it sends how late its event loop was since the message
 * "measure".
 */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { existsSync, readFileSync } from "node:fs";
import { createHistogram, monitorEventLoopDelay, type Histogram } from "node:perf_hooks";
import { memoryOf } from "../../bench/command.ts";
import {
  createApiKey,
  createHandler,
  memoryTokenStore,
  memoryUserStore,
  toNodeListener,
} from "../../src/http/index.ts";
import { open, type Engine, type SearchRequest } from "../../src/index.ts";

export interface Served {
  readonly port: number;
  readonly secret: string;
}

/** The median, the 99th percentile and the maximum, in milliseconds. */
export type Spread = readonly [p50: number, p99: number, most: number];

/** Bytes of RssAnon at the end of a second. */
export interface Second {
  readonly memory: number;
}

/** What the server's calling thread did while it was measured. One histogram covers the whole time. */
export interface Measured {
  /** How late a timer fired. */
  readonly late: Spread;
  /** How long the thread ran between two firings. This is the delay that quern causes, without waiting for a core. */
  readonly busy: Spread;
  /** The share of the time in which the thread ran, and the share in which it was ready but had no core. */
  readonly ran: number;
  readonly waited: number;
}

export async function serve(index: string, limits: Limits): Promise<void> {
  const { workers } = limits;
  const engine = await open(index, { readOnly: true, workers });
  const tokens = memoryTokenStore();
  const { secret } = await createApiKey(tokens, { ownerId: "ada" });
  const users = memoryUserStore([member("ada")]);
  const { maxConcurrent, maxWaiting } = limits;
  const handler = createHandler(engine, { tokens, users, maxConcurrent, maxWaiting });
  const server = createServer(toNodeListener(orExplain(engine, handler)));
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo;
    process.send!({ port, secret } satisfies Served);
  });
  const second = setInterval(() => {
    process.send!({ memory: memoryOf(process.pid, "RssAnon") ?? NaN } satisfies Second);
  }, 1000);
  let measured = (): Measured | undefined => undefined;
  process.on("message", (word) => {
    if (word === "measure") measured = watchLoop();
    if (word !== "end") return;
    clearInterval(second);
    process.send!(measured());
    void end(server, engine);
  });
}

export interface Limits {
  readonly workers: number;
  readonly maxConcurrent: number;
  readonly maxWaiting: number;
}

type Handler = ReturnType<typeof createHandler>;

function orExplain(engine: Engine, handler: Handler): Handler {
  return async (request) =>
    new URL(request.url).pathname === "/explain"
      ? Response.json(await engine.explain((await request.json()) as SearchRequest))
      : handler(request);
}

function member(id: string) {
  const at = new Date();
  const dates = { suspendedAt: null, createdAt: at, updatedAt: at, lastActivityAt: null };
  return { id, name: id, email: `${id}@example.com`, role: "MEMBER" as const, ...dates };
}

const TICK_MS = 1;

/** Begins to measure. Returns the function that ends it. */
function watchLoop(): () => Measured {
  const delays = monitorEventLoopDelay({ resolution: TICK_MS });
  delays.enable();
  const busy = createHistogram();
  const [before, begin] = [threadTimes(), performance.now()];
  let last = before;
  const tick = setInterval(() => {
    const now = threadTimes();
    busy.record(Math.max(1, now.ran - last.ran));
    last = now;
  }, TICK_MS);
  return () => {
    delays.disable();
    clearInterval(tick);
    const [after, nanoseconds] = [threadTimes(), (performance.now() - begin) * 1e6];
    return {
      late: spreadOf(delays, TICK_MS), // the monitor counts the time between two firings
      busy: spreadOf(busy, 0),
      ran: (after.ran - before.ran) / nanoseconds,
      waited: (after.waited - before.waited) / nanoseconds,
    };
  };
}

function spreadOf(histogram: Histogram, lessMs: number): Spread {
  const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - lessMs);
  return [
    late(histogram.percentile(50)),
    late(histogram.percentile(99)),
    late(Math.max(0, histogram.max)),
  ];
}

/**
 * Returns the nanoseconds for which the calling thread ran, and for which it was ready but had no core. Takes 20 µs.
 */
function threadTimes(): { ran: number; waited: number } {
  const path = `/proc/self/task/${process.pid}/schedstat`;
  if (!existsSync(path)) return { ran: 0, waited: 0 };
  const [ran = 0, waited = 0] = readFileSync(path, "utf8").split(" ").map(Number);
  return { ran, waited };
}

async function end(server: Server, engine: Engine): Promise<void> {
  server.closeAllConnections();
  server.close();
  await engine.close();
  if (process.connected) process.disconnect();
}
