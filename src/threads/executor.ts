/** Where requests run: in a worker thread, or inline on the thread that asks. */

import { Worker, type WorkerOptions } from "node:worker_threads";
import type { Birth, Reply, Request } from "./protocol.ts";
import { newUp, Start } from "./start.ts";
import { LANES, type TaskTable } from "./task.ts";
import { inlineSlice, runRequest, type Thread } from "./thread.ts";

export interface Executor {
  /** REQUIRES: it said "ready". Throws what cannot be cloned. */
  send(request: Request, transfer: readonly ArrayBuffer[]): void;
  /** Whether it keeps the process alive. At first it does. */
  hold(alive: boolean): void;
  end(): Promise<void>;
  /** It dies of this. Nothing can stop a task that runs inline. */
  kill(failure: Error): void;
}

export interface ExecutorEvents {
  reply(reply: Reply): void;
  /** Called once; nothing follows. Also after end(). */
  died(reason: string, cause: unknown): void;
}

/**
 * Of each thread's heap. V8's default grows to 48 MiB and more, which alone would break the memory
 * contract of indexing; what tasks make for a moment is small.
 */
const YOUNG_MIB = 12;
/**
 * Not a need: V8 lets a heap grow fourfold before it collects all of it where up to 4 GiB are allowed, and
 * by 60 % where 1 GiB is. A worker's 15 MiB were 60 before they were collected.
 */
const OLD_MIB = 1024;

export function startWorker(
  entry: URL,
  birth: Omit<Birth, "up">,
  events: ExecutorEvents,
): Executor {
  const up = newUp();
  // no execArgv: a host's loaders and --input-type are not for a bundled entry
  const options: WorkerOptions = {
    workerData: { ...birth, up } satisfies Birth,
    execArgv: [],
    name: "quern",
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB, maxOldGenerationSizeMb: OLD_MIB },
  };
  // not `new Worker(entry)`: Next.js takes that for any file of this folder, and its build fails at the declarations
  const worker = Reflect.construct(Worker, [entry, options]) as Worker;
  const start = new Start(up);
  let failure: unknown;
  worker.on("message", (reply: Reply) => {
    if (reply.kind === "ready") start.end();
    events.reply(reply);
  });
  worker.on("messageerror", (error) => {
    failure = error; // whose reply it was is lost with it
    void worker.terminate();
  });
  worker.on("error", (error) => {
    failure = error;
  });
  worker.on("exit", (code) => {
    start.end();
    events.died(failure instanceof Error ? failure.message : `exit code ${code}`, failure);
  });
  return {
    send: (request, transfer) => worker.postMessage(request, transfer),
    hold: (alive) => (alive ? worker.ref() : worker.unref()),
    async end() {
      await start.over;
      await worker.terminate();
    },
    kill(error) {
      failure = error;
      void worker.terminate();
    },
  };
}

/** Never dies. A slice of a task never shares a turn of the event loop with the call that asked for it. */
export function startInline(
  tasks: TaskTable,
  birth: Omit<Birth, "up">,
  events: ExecutorEvents,
): Executor {
  const thread: Thread = {
    ...birth,
    tasks,
    isInline: true,
    pausing: new Set(LANES),
    memo: new Map(),
    send: (reply) => events.reply(reply),
    closed: false,
  };
  const running = new Set<Promise<void>>();
  const run = async (request: Request) => {
    await inlineSlice.rest();
    if (!thread.closed) await runRequest(thread, request);
  };
  queueMicrotask(() => events.reply({ kind: "ready" }));
  return {
    send(request) {
      const done = run(request).finally(() => running.delete(done));
      running.add(done);
    },
    hold: () => {},
    kill: () => {},
    async end() {
      thread.closed = true;
      await Promise.all(running);
      for (const kept of thread.memo.values()) dispose(kept);
      thread.memo.clear();
    },
  };
}

/** What a worker keeps ends with it; what is kept inline must be told. */
function dispose(kept: unknown): void {
  if (typeof kept === "object" && kept !== null && Symbol.dispose in kept)
    (kept as Disposable)[Symbol.dispose]();
}
