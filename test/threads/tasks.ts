/** Tasks that show what a pool does, for the worker of these tests and for inline pools. */

import { QuernError } from "../../src/base/errors.ts";
import type { Task, TaskContext } from "../../src/threads/task.ts";

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const after = (ms: number, act: () => void) => void setTimeout(act, ms);
let counter = 0;

/** Works for some time, and pauses if requested. Resolves to the number of pauses. */
const spin: Task<number, Promise<number>> = async (ms, context) => {
  let pauses = 0;
  for (const end = performance.now() + ms; performance.now() < end;) {
    const wait = context.pause();
    if (wait) await wait;
    if (wait) pauses++;
  }
  return pauses;
};

function failure(kind: string): unknown {
  if (kind === "quern") return new QuernError("QUERY_SYNTAX", "no", { position: 7 });
  return kind === "error" ? new TypeError("broken") : kind;
}

export const tasks = {
  echo: (input: unknown) => input,
  worker: (_: unknown, context: TaskContext) => context.worker,
  environment: (_: unknown, context: TaskContext) => context.environment,
  spin,
  sleep: (ms: number) => sleep(ms),
  log: async (name: string, context: TaskContext) => {
    context.post(`${name} begins`);
    await sleep(5);
    context.post(`${name} ends`);
  },
  fail: (kind: string) => {
    throw failure(kind);
  },
  reject: async (kind: string) => {
    await sleep(1);
    throw failure(kind);
  },
  uncloneable: () => () => 0,
  postLate: (_: unknown, context: TaskContext) => after(1, () => context.post("late")),
  count: (count: number, context: TaskContext) => {
    for (let i = 0; i < count; i++) context.post(i);
  },
  fill: (length: number, context: TaskContext) => {
    const bytes = new Uint8Array(length).fill(length);
    context.transfer(bytes.buffer);
    after(0, () => (counter = bytes.byteLength)); // 0 if it was transferred
    return bytes;
  },
  counter: () => counter,
  memo: (_: unknown, context: TaskContext) => context.memo("made", () => ++counter),
  forget: (_: unknown, context: TaskContext) => context.forget("made"),
  exit: () => process.exit(3),
  throwLater: (_: unknown, context: TaskContext) => {
    after(1, () => {
      throw new Error("boom");
    });
    context.post("armed");
    return sleep(1000);
  },
  dieSoon: (ms: number) => after(ms, () => process.exit(4)),
  /** Blocks its thread for some time, and then sets the second word of shared memory. */
  block: ({ ms, words }: { ms: number; words: Int32Array }) => {
    Atomics.store(words, 0, 1);
    Atomics.wait(words, 2, 0, ms);
    Atomics.store(words, 1, 1);
  },
  loop: () => {
    for (;;);
  },
  hog: () => {
    const kept: unknown[] = [];
    for (;;) kept.push(Array.from({ length: 10_000 }).fill(kept.length));
  },
  disposable: (disposed: () => void, context: TaskContext) => {
    context.memo("kept", () => ({ [Symbol.dispose]: disposed }));
  },
};
