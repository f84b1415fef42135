/**
 * Provides tasks with the environment of the data directory. Each worker thread opens the environment once. Tasks that
 * run on the calling thread use the environment of the caller.
 */

import { openEnvironment, type Environment } from "./environment.ts";

/** The options with which a pool of threads is created. */
export interface ThreadOptions {
  readonly path: string;
  readonly readOnly: boolean;
  /** The caller's environment, for tasks that run on its thread. */
  readonly opened?: Environment;
}

/** The part of a task's context that this file needs. */
interface Thread {
  readonly environment: unknown;
  memo<T>(key: string, make: () => T): T;
}

/** Returns the environment of this thread, and opens it on first use. */
export function threadEnvironment(thread: Thread): Environment {
  const { path, readOnly, opened } = thread.environment as ThreadOptions;
  return opened ?? thread.memo("environment", () => openEnvironment(path, { readOnly }));
}
