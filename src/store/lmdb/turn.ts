/**
 * Processes open and close a data file one at a time. LMDB needs that: the last one to close
 * destroys the locks in its lock file, and one that opens in that moment takes the file over with
 * them. Its first transaction fails (EINVAL), and so do those of all who join it until it ends.
 * Of 800 processes that opened and closed, four at a time, two failed so.
 *
 * A turn is a file that is there while somebody has it. One whose owner was killed is void after
 * two seconds, and nobody waits where none can be made: then it is as if there were no turns.
 */

import { closeSync, openSync, rmSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const FILE = ".turn"; // a folder with nothing but such names may become a data directory
const VOID_MS = 2000; // opening takes 1 to 3 ms, closing as long as the disk takes to write
const RETRY_MS = 2;

/** Turns of this thread, by the path of their file. */
const held = new Set<string>();

export async function inTurn<T>(folder: string, work: () => T | Promise<T>): Promise<T> {
  const file = resolve(folder, FILE);
  while (!take(file)) await sleep(RETRY_MS);
  try {
    return await work();
  } finally {
    giveBack(file);
  }
}

/** The same for those who must not return before. Within a turn of its own thread, which would not end, it takes none. */
export function inTurnAtOnce<T>(folder: string, work: () => T): T {
  const file = resolve(folder, FILE);
  if (held.has(file)) return work();
  const nobody = new Int32Array(new SharedArrayBuffer(4));
  while (!take(file)) Atomics.wait(nobody, 0, 0, RETRY_MS);
  try {
    return work();
  } finally {
    giveBack(file);
  }
}

/** Whether there is nothing to wait for. */
function take(file: string): boolean {
  try {
    closeSync(openSync(file, "wx"));
    held.add(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") return true;
    return isVoid(file) && !isRemoved(file);
  }
}

/** Not from a read-only disk, nor by who may only read the folder. */
function isRemoved(file: string): boolean {
  try {
    rmSync(file, { force: true });
    return true;
  } catch {
    return false;
  }
}

function giveBack(file: string): void {
  if (held.delete(file)) rmSync(file, { force: true });
}

function isVoid(file: string): boolean {
  const since = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  return since !== undefined && Math.abs(Date.now() - since) > VOID_MS;
}
