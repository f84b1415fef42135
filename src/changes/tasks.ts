/**
 * Defines the tasks that threads run to search histories, in the lane "search". Their modules are loaded with the first
 * such search, so that a host that makes none does not pay for them.
 */

import { lazily } from "../base/out-of-files.ts";
import type { Task } from "../threads/task.ts";
import type {
  ChangesInput,
  ChangesOutput,
  Failure,
  ShowChangesInput,
  ShownUnit,
} from "./messages.ts";

const searchTask = lazily(() => import("./search-task.ts"));
const showTask = lazily(() => import("./show-task.ts"));

const search: Task<ChangesInput, ChangesOutput | Failure> = async (input, context) =>
  (await searchTask()).searchChangesTask(input, context);

const show: Task<ShowChangesInput, ShownUnit[] | Failure> = async (input, context) =>
  (await showTask()).showChangesTask(input, context);

export const CHANGE_TASKS = { "changes.search": search, "changes.show": show };
