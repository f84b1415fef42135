/** Answers the pool's requests in a worker thread, until the pool ends the thread. */

import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../base/errors.ts";
import { END, type Request, type WorkerInput } from "./protocol.ts";
import { sayUp } from "./start.ts";
import type { TaskTable } from "./task.ts";
import { runRequest, type Thread } from "./thread.ts";

/**
 * Serves tasks on this worker thread. REQUIRES: this is called once, by the entry script of a worker that a pool has
 * started.
 */
export function serveTasks(tasks: TaskTable): void {
  const port = parentPort;
  assert(port !== null, "tasks are served in workers only");
  const { worker, environment, pulse, up } = workerData as WorkerInput;
  const thread: Thread = {
    tasks,
    isInline: false,
    worker,
    environment,
    pulse,
    pausing: new Set(["ingest", "list"]),
    memo: new Map(),
    send: (reply, transfer) => port.postMessage(reply, transfer),
    closed: false,
  };
  const running = new Set<Promise<void>>();
  port.on("message", (message: Request | typeof END) => {
    if (message === END) {
      thread.closed = true;
      void Promise.all(running).then(() => process.exit());
      return;
    }
    const done = runRequest(thread, message).finally(() => running.delete(done));
    running.add(done);
  });
  // the id of the request is lost, so no reply could reach its sender; the worker dies and is replaced
  port.on("messageerror", (error) => {
    throw error;
  });
  sayUp(up);
  thread.send({ kind: "ready" }, []);
}
