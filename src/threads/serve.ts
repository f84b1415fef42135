/** The worker's end: answers the pool's requests until the pool ends the thread. */

import { parentPort, workerData } from "node:worker_threads";
import { assert } from "../base/errors.ts";
import type { Birth, Request } from "./protocol.ts";
import { sayUp } from "./start.ts";
import type { TaskTable } from "./task.ts";
import { runRequest, type Thread } from "./thread.ts";

/** REQUIRES: called once, by the entry of a worker that a pool has started. */
export function serveTasks(tasks: TaskTable): void {
  const port = parentPort;
  assert(port !== null, "tasks are served in workers only");
  const { worker, environment, pulse, up } = workerData as Birth;
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
  port.on("message", (request: Request) => void runRequest(thread, request));
  // its sender waits for an answer that could not be addressed: better to die and be replaced
  port.on("messageerror", (error) => {
    throw error;
  });
  sayUp(up);
  thread.send({ kind: "ready" }, []);
}
