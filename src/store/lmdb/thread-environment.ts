/**
 * Provides tasks with the environment of the data directory. Each worker thread opens it once. Tasks that run on the
 * calling thread use the caller's environment.
 */

import { openEnvironment, type Environment } from "./environment.ts";

/** The options that a pool of threads is created with. */
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

/** Returns the environment of this thread, opened on first use. */
export function threadEnvironment(thread: Thread): Environment {
  const { path, readOnly, opened } = thread.environment as ThreadOptions;
  return opened ?? thread.memo("environment", () => openEnvironment(path, { readOnly }));
}
