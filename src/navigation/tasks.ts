/**
 * Defines the task that a thread runs for navigation. Its module is loaded with the first question, so that a host that
 * asks none does not pay for it.
 */

import { lazily } from "../base/out-of-files.ts";
import type { Task } from "../threads/task.ts";
import type { NavigationInput, NavigationResult } from "./messages.ts";

const navigateTask = lazily(() => import("./navigate-task.ts"));

const navigate: Task<NavigationInput, NavigationResult> = async (input, context) =>
  (await navigateTask()).navigateTask(input, context);

export const NAVIGATION_TASKS = { navigate };
