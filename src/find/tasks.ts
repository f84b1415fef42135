/**
 * Defines the tasks that threads run for find(), in the lane "search". Their modules are loaded with the first question,
 * so that a host that asks none does not pay for them.
 */

import { lazily } from "../base/out-of-files.ts";
import type { Task } from "../threads/task.ts";
import type {
  CountInput,
  CountOutput,
  RankInput,
  RankOutput,
  ReadInput,
  ReadOutput,
} from "./messages.ts";

const countTask = lazily(() => import("./count-task.ts"));
const rankTask = lazily(() => import("./rank-task.ts"));
const readTask = lazily(() => import("./read-task.ts"));

const count: Task<CountInput, CountOutput> = async (input, context) =>
  (await countTask()).countTask(input, context);

const rank: Task<RankInput, RankOutput> = async (input, context) =>
  (await rankTask()).rankTask(input, context);

const read: Task<ReadInput, ReadOutput> = async (input, context) =>
  (await readTask()).readTask(input, context);

export const FIND_TASKS = { "find.count": count, "find.rank": rank, "find.read": read };
