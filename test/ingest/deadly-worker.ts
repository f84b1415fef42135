/**
 * A worker that indexes like any other, except that two texts are deadly: one is parsed for ever, and one ends the
 * thread.
 */

import { createExtractor, type Extractor } from "../../src/ingest/symbols/extract.ts";
import { INGEST_TASKS } from "../../src/ingest/tasks.ts";
import { symbolsTask, type SymbolsInput } from "../../src/ingest/symbols/symbol-task.ts";
import { serveTasks } from "../../src/threads/serve.ts";
import type { TaskContext } from "../../src/threads/task.ts";

const never = new Int32Array(new SharedArrayBuffer(4));

/**
 * Returns an extractor whose grammar is loaded before any task. Loading gives no sign of life for half a second, and
 * for many seconds if there are few cores.
 */
async function deadlyExtractor(): Promise<Extractor> {
  const real = await createExtractor();
  await real.prepare("TypeScript");
  return {
    prepare: (language) => real.prepare(language),
    extract(language, bytes) {
      const text = Buffer.from(bytes).toString();
      while (text.includes("loop")) Atomics.wait(never, 0, 0, 10); // and leaves the core to the others
      if (text.includes("exit")) process.exit(7);
      return real.extract(language, bytes);
    },
    close: () => real.close(),
    [Symbol.dispose]: () => real[Symbol.dispose](),
  };
}

const extractor = Promise.resolve(await deadlyExtractor());

serveTasks({
  ...INGEST_TASKS,
  "ingest.symbols": (input: SymbolsInput, context: TaskContext) =>
    symbolsTask(input, {
      pause: () => context.pause(),
      post: (message) => context.post(message),
      memo: <T>(key: string, make: () => T) =>
        key === "extractor" ? (extractor as T) : context.memo(key, make),
      forget: (key) => context.forget(key),
      isInline: true,
      worker: context.worker,
      environment: context.environment,
      transfer: (...buffers) => context.transfer(...buffers),
    }),
});
