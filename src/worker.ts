/** The entry point of a worker thread. Runs the tasks of ingest, search, navigation and overlays that the pool sends. */

import { CHANGE_TASKS } from "./changes/tasks.ts";
import { FIND_TASKS } from "./find/tasks.ts";
import { INGEST_TASKS } from "./ingest/tasks.ts";
import { NAVIGATION_TASKS } from "./navigation/tasks.ts";
import { OVERLAY_TASKS } from "./overlay/layer-task.ts";
import { SEARCH_TASKS } from "./search/thread/tasks.ts";
import { serveTasks } from "./threads/serve.ts";

serveTasks({
  ...INGEST_TASKS,
  ...SEARCH_TASKS,
  ...FIND_TASKS,
  ...CHANGE_TASKS,
  ...NAVIGATION_TASKS,
  ...OVERLAY_TASKS,
});
