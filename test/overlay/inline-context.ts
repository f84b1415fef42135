/** The context of a task that runs on the calling thread. */

import type { TaskContext } from "../../src/threads/task.ts";

export function inlineContext(): TaskContext {
  const kept = new Map<string, unknown>();
  return {
    pause: () => undefined,
    post: () => {},
    memo: <T>(key: string, make: () => T) => {
      if (!kept.has(key)) kept.set(key, make());
      return kept.get(key) as T;
    },
    forget: (key) => void kept.delete(key),
    isInline: true,
    worker: 0,
    environment: undefined,
    transfer: () => {},
  };
}
