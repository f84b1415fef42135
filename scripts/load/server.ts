/**
 * The server of a load test: a real one on a port, with API keys and members. Tells its parent the
 * port and a secret, then every second how late its event loop was.
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

/** Milliseconds at the half, at 99 of 100, and at most. */
export type Spread = readonly [p50: number, p99: number, most: number];

/** What the server's calling thread did in one second; times in milliseconds. */
export interface Second {
  /** How late a timer fired. */
  readonly late: Spread;
  /** How long the thread ran between two firings: what is late for our sake, not for want of a core. */
  readonly busy: Spread;
  readonly ran: number;
  /** It was ready to run and had no core. */
  readonly waited: number;
  /** Bytes of RssAnon at the second's end. */
  readonly memory: number;
}

export async function serve(index: string, limits: Limits): Promise<void> {
  const engine = await open(index, { readOnly: true, workers: limits.workers });
  const tokens = memoryTokenStore();
  const { secret } = await createApiKey(tokens, { ownerId: "ada" });
  const users = memoryUserStore([member("ada")]);
  const handler = createHandler(engine, { tokens, users, maxConcurrent: limits.maxConcurrent });
  const server = createServer(toNodeListener(orExplain(engine, handler)));
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo;
    process.send!({ port, secret } satisfies Served);
  });
  const stopWatching = watchLoop();
  process.once("message", () => void end(server, engine, stopWatching));
}

export interface Limits {
  readonly workers: number;
  readonly maxConcurrent: number;
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

/** Each second has its own figures: those of all would hide a bad one. */
function watchLoop(): () => void {
  const delays = monitorEventLoopDelay({ resolution: TICK_MS });
  delays.enable();
  const busy = createHistogram();
  let before = threadTimes();
  let last = before;
  const tick = setInterval(() => {
    const now = threadTimes();
    busy.record(Math.max(1, now.ran - last.ran));
    last = now;
  }, TICK_MS);
  const second = setInterval(() => {
    const now = threadTimes();
    process.send!({
      late: spreadOf(delays, TICK_MS), // the monitor counts the time between two firings
      busy: spreadOf(busy, 0),
      ran: (now.ran - before.ran) / 1e6,
      waited: (now.waited - before.waited) / 1e6,
      memory: memoryOf(process.pid, "RssAnon") ?? NaN,
    } satisfies Second);
    delays.reset();
    busy.reset();
    before = now;
  }, 1000);
  return () => {
    clearInterval(tick);
    clearInterval(second);
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

/** Nanoseconds that the calling thread ran, and that it could have run and had no core; 20 µs to ask. */
function threadTimes(): { ran: number; waited: number } {
  const path = `/proc/self/task/${process.pid}/schedstat`;
  if (!existsSync(path)) return { ran: 0, waited: 0 };
  const [ran = 0, waited = 0] = readFileSync(path, "utf8").split(" ").map(Number);
  return { ran, waited };
}

async function end(server: Server, engine: Engine, stopWatching: () => void): Promise<void> {
  stopWatching();
  server.closeAllConnections();
  server.close();
  await engine.close();
  process.disconnect();
}
