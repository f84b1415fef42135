/** Defines the parameters of one thread's part of a search. */

import type { Snapshot } from "../../store/lmdb/environment.ts";
import type { TaskContext } from "../../threads/task.ts";
import type { Control } from "../messages/control.ts";
import type { SearchInput } from "../messages/messages.ts";
import type { PreparedQuery } from "./planning/prepare.ts";
import type { SearchTools, ThreadTools } from "./reading/thread-tools.ts";

export interface SearchThread {
  readonly input: SearchInput;
  /** The number of this worker thread, or 0 for the calling thread. */
  readonly worker: number;
  readonly query: PreparedQuery;
  readonly control: Control;
  readonly snapshot: Snapshot;
  readonly thread: ThreadTools;
  readonly tools: SearchTools;
  readonly context: Pick<TaskContext, "pause" | "post" | "transfer">;
}
