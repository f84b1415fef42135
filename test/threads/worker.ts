/** The entry of the workers of these tests. */

import { writeFileSync } from "node:fs";
import { workerData } from "node:worker_threads";
import { serveTasks } from "../../src/threads/serve.ts";
import { tasks } from "./tasks.ts";

const { worker, environment } = workerData as { worker: number; environment: unknown };
if (environment === "stillborn") throw new Error("cannot live");
if (worker === 1 && typeof environment === "object")
  startSlowly(environment as { slowMs: number; mark: string });
serveTasks(tasks);

/** Takes the given time to start, and then leaves a mark. */
function startSlowly({ slowMs, mark }: { slowMs: number; mark: string }): void {
  for (const end = performance.now() + slowMs; performance.now() < end;);
  writeFileSync(mark, "");
}
