/** Runs requests in a worker thread, or inline on the calling thread. */

import { Worker, type WorkerOptions } from "node:worker_threads";
import { END, type Reply, type Request, type WorkerInput } from "./protocol.ts";
import { newUp, Start } from "./start.ts";
import { LANES, type TaskTable } from "./task.ts";
import { inlineSlice, runRequest, type Thread } from "./thread.ts";

export interface Executor {
  /** Sends a request. Throws if the input of the request cannot be cloned. REQUIRES: the executor has sent "ready". */
  send(request: Request): void;
  /** Sets whether the executor keeps the process alive. At first, it does. */
  hold(alive: boolean): void;
  /** Makes running tasks end soon, and resolves when the executor has ended. */
  end(): Promise<void>;
  /**
   * Ends the worker, and reports `failure` as the cause of its death. Does nothing for an inline executor, because an
   * inline task cannot be stopped.
   */
  kill(failure: Error): void;
}

export interface ExecutorEvents {
  reply(reply: Reply): void;
  /**
   * Called when the worker has ended, even if end() has ended it. This is the last event. An inline executor never
   * sends it.
   */
  died(reason: string, cause: unknown): void;
}

/**
 * The limit of the young generation of each worker's heap. With V8's default, the young generation grows to 48 MiB and
 * more, which alone would exceed the memory budget of indexing. A smaller one is enough, because tasks create few
 * short-lived objects.
 */
const YOUNG_MIB = 12;
/**
 * The limit of the old generation of each worker's heap, which is far more than a worker needs. With a limit of 4 GiB,
 * V8 lets the heap grow fourfold, from 15 to 60 MiB, before a full collection. With 1 GiB, the heap grows by 60 %.
 */
const OLD_MIB = 1024;

/**
 * The time after which a worker is terminated if its tasks have not ended. It is not terminated sooner, because LMDB
 * aborts the process if a thread is terminated while LMDB creates a value or an error. In a test that terminated
 * threads at random moments of searches, this happened once in 500 threads. Searches end within 50 ms.
 */
const MOST_END_MS = 500;

export function startWorker(
  entry: URL,
  input: Omit<WorkerInput, "up">,
  events: ExecutorEvents,
): Executor {
  const up = newUp();
  // execArgv is empty, because a host's loaders and --input-type do not suit a bundled entry
  const options: WorkerOptions = {
    workerData: { ...input, up } satisfies WorkerInput,
    execArgv: [],
    name: "quern",
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MIB, maxOldGenerationSizeMb: OLD_MIB },
  };
  // not `new Worker(entry)`, because Next.js would bundle every file of this folder and fail at the declaration files
  const worker = Reflect.construct(Worker, [entry, options]) as Worker;
  const start = new Start(up);
  let failure: unknown;
  const ended = new Promise<void>((resolve) => worker.on("exit", () => resolve()));
  worker.on("message", (reply: Reply) => {
    if (reply.kind === "ready") start.end();
    events.reply(reply);
  });
  worker.on("messageerror", (error) => {
    failure = error; // it is unknown to which request this reply belongs
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
    send: (request) => worker.postMessage(request),
    hold: (alive) => (alive ? worker.ref() : worker.unref()),
    async end() {
      await start.over;
      worker.ref(); // so that the process waits for the worker
      worker.postMessage(END);
      const late = setTimeout(() => void worker.terminate(), MOST_END_MS);
      await ended;
      clearTimeout(late);
    },
    kill(error) {
      failure = error;
      void worker.terminate();
    },
  };
}

/**
 * Runs tasks on the calling thread. This executor never dies. A task starts in a later turn of the event loop than the
 * call that sends it.
 */
export function startInline(
  tasks: TaskTable,
  input: Omit<WorkerInput, "up">,
  events: ExecutorEvents,
): Executor {
  const thread: Thread = {
    ...input,
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
      for (const kept of await Promise.allSettled(thread.memo.values()))
        if (kept.status === "fulfilled") dispose(kept.value);
      thread.memo.clear();
    },
  };
}

/** Disposes of a value that memo() has kept. A worker need not do this, because its values end with the worker. */
function dispose(kept: unknown): void {
  if (typeof kept === "object" && kept !== null && Symbol.dispose in kept)
    (kept as Disposable)[Symbol.dispose]();
}
