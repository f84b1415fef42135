export { TaskQueue, type QueueOptions } from "./queue.ts";
export { retryWithBackoff, RetryError, type RetryOptions } from "./retry.ts";
export { parseDuration, formatDuration } from "./duration.ts";
export { MemoryStore } from "./store/memory.ts";
export { FileStore } from "./store/file.ts";
export type { Task, TaskStore, Handler } from "./task.ts";
