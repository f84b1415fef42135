/** The worker threads' entry: serves the tasks of ingest and search. */

import { INGEST_TASKS } from "./ingest/tasks.ts";
import { SEARCH_TASKS } from "./search/thread/tasks.ts";
import { serveTasks } from "./threads/serve.ts";

serveTasks({ ...INGEST_TASKS, ...SEARCH_TASKS });
