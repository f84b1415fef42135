/** The data directory as a task finds it: opened once by each worker thread, or the caller's own where tasks run inline. */

import { openEnvironment, type Environment } from "./environment.ts";

/** What a pool of threads is created with. */
export interface ThreadOptions {
  readonly path: string;
  readonly readOnly: boolean;
  /** Only for tasks on the caller's thread. */
  readonly opened?: Environment;
}

/** The part of a task's context that this needs. */
interface Thread {
  readonly environment: unknown;
  memo<T>(key: string, make: () => T): T;
}

export function threadEnvironment(thread: Thread): Environment {
  const { path, readOnly, opened } = thread.environment as ThreadOptions;
  return opened ?? thread.memo("environment", () => openEnvironment(path, { readOnly }));
}
