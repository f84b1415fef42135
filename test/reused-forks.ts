/**
 * Test processes that run several files, one after the other. A process then loads vitest and the bundles of src/ once,
 * and not once for each file, which takes 0.3 s of processor time. It grows with each file, so it ends when it is large
 * or has run some files.
 */

import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { ForksPoolWorker, type PoolOptions, type WorkerRequest } from "vitest/node";

const NAME = "reused forks";
const MOST_FILES = 12;
/** The maximum number of pages of 4 KiB, which is 400 MiB. A new process has 60 MiB. */
const MOST_PAGES = 100_000;

/** Returns how many pages of memory a process has, or 0 if the system does not report it. */
function pagesOf({ pid }: ChildProcess): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "latin1").split(" ")[1]);
  } catch {
    return 0;
  }
}

class ReusedFork extends ForksPoolWorker {
  override readonly name = NAME;
  private files = 0;

  override send(message: WorkerRequest): void {
    if (message.type === "run") this.files++;
    super.send(message);
  }

  /** Returns whether this process may run another file. vitest asks only with files of the same project. */
  canReuse(): boolean {
    const child = Reflect.get(this, "fork") as ChildProcess;
    return this.files < MOST_FILES && pagesOf(child) < MOST_PAGES;
  }
}

export const reusedForks = {
  name: NAME,
  createPoolWorker: (options: PoolOptions): ForksPoolWorker => new ReusedFork(options),
};
