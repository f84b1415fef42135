/** The entry of the workers of these tests. */

import { workerData } from "node:worker_threads";
import { serveTasks } from "../../src/threads/serve.ts";
import { tasks } from "./tasks.ts";

const { environment } = workerData as { environment: unknown };
if (environment === "stillborn") throw new Error("cannot live");
serveTasks(tasks);
