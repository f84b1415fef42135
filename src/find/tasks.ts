/** Defines the tasks that threads run for find(), in the lane "search". */

import { countTask } from "./count-task.ts";
import { rankTask } from "./rank-task.ts";
import { readTask } from "./read-task.ts";

export const FIND_TASKS = {
  "find.count": countTask,
  "find.rank": rankTask,
  "find.read": readTask,
};
