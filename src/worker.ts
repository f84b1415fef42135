/** The entry point of a worker thread. Runs the tasks of ingest, search and overlays that the pool sends. */

import { INGEST_TASKS } from "./ingest/tasks.ts";
import { OVERLAY_TASKS } from "./overlay/layer-task.ts";
import { SEARCH_TASKS } from "./search/thread/tasks.ts";
import { serveTasks } from "./threads/serve.ts";

serveTasks({ ...INGEST_TASKS, ...SEARCH_TASKS, ...OVERLAY_TASKS });
