/**
 * Walks a folder on a worker thread, for a caller that must not wait for the disk. The worker sends batches of
 * entries as messages. A walk is faster than indexing, so the worker pauses while AHEAD batches wait for the caller.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "../../threads/pool.ts";
import type { Task } from "../../threads/task.ts";
import { throwIfAborted } from "../../base/abort.ts";
import type { Entry, ListingOptions, WalkedFolder } from "./source.ts";
import { walk } from "./walk.ts";

export interface WalkInput {
  readonly tree: WalkedFolder;
  readonly maxFileSize: number;
  /** Two 32-bit words: the number of batches that the caller has taken, and 1 if the worker is to stop. */
  readonly shared: SharedArrayBuffer;
}

const TAKEN = 0;
const STOPPED = 1;
const AHEAD = 4;
const LOOK_MS = 1;

/** A task of the lane "list" that walks a folder, and posts the entries in batches. */
export const walkTask: Task<WalkInput, void> = async ({ tree, maxFileSize, shared }, context) => {
  const words = new Int32Array(shared);
  const signal = {
    reason: undefined,
    get aborted() {
      return Atomics.load(words, STOPPED) === 1;
    },
  };
  let posted = 0;
  for await (const batch of walk(tree, { signal, maxFileSize })) {
    context.post(batch);
    posted++;
    while (posted - Atomics.load(words, TAKEN) >= AHEAD && !signal.aborted) await sleep(LOOK_MS);
    if (signal.aborted) return;
  }
};

/** Walks a folder on a worker, and yields the entries in batches. REQUIRES: the pool has workers. */
export async function* walkElsewhere(
  pool: Pool,
  tree: WalkedFolder,
  { signal, maxFileSize }: ListingOptions,
): AsyncGenerator<readonly Entry[]> {
  const words = new Int32Array(new SharedArrayBuffer(8));
  const batches: (readonly Entry[])[] = [];
  let wake = () => {};
  let isOver = false;
  const stop = () => {
    Atomics.store(words, STOPPED, 1);
    wake();
  };
  const input: WalkInput = { tree, maxFileSize, shared: words.buffer };
  const onMessage = (batch: unknown) => {
    batches.push(batch as readonly Entry[]);
    wake();
  };
  const over = pool.run<void>("ingest.walk", input, { lane: "list", onMessage }).finally(() => {
    isOver = true;
    wake();
  });
  over.catch(() => {}); // a rejection is handled below, where `over` is awaited
  signal.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      throwIfAborted(signal);
      const batch = batches.shift();
      if (batch) {
        Atomics.add(words, TAKEN, 1);
        yield batch;
      } else if (isOver) return await over;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
    await over.catch(() => {});
  }
}
