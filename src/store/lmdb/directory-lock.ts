/**
 * Lets processes open and close a data file one at a time. The last process that closes LMDB destroys the locks in
 * LMDB's lock file. If another process opens at that moment, it gets the file with the destroyed locks. Its first
 * transaction fails (EINVAL), as in all processes that join it. Of 800 processes that opened and closed
 * without this lock, four at a time, two failed.
 *
 * The lock is a file that exists while somebody holds it. It is stale after two seconds, so an owner that was killed
 * does not block the others. Where no file can be created, as on a read-only disk, processes do not wait for each
 * other.
 */

import { closeSync, openSync, rmSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const FILE = ".turn"; // begins with a dot, because a folder with other files cannot become a data directory
const STALE_MS = 2000; // opening takes 1 to 3 ms; closing takes as long as the disk needs to write
const RETRY_MS = 2;

/** Paths of the locks that this thread holds. */
const held = new Set<string>();

/** Runs `work` while holding the lock of a data directory. */
export async function withDirectoryLock<T>(folder: string, work: () => T | Promise<T>): Promise<T> {
  const file = resolve(folder, FILE);
  while (!acquire(file)) await sleep(RETRY_MS);
  try {
    return await work();
  } finally {
    release(file);
  }
}

/**
 * Runs `work` as withDirectoryLock() does, but blocks the thread meanwhile. If this thread already holds the lock, runs
 * `work` immediately.
 */
export function withDirectoryLockSync<T>(folder: string, work: () => T): T {
  const file = resolve(folder, FILE);
  if (held.has(file)) return work();
  const never = new Int32Array(new SharedArrayBuffer(4));
  while (!acquire(file)) Atomics.wait(never, 0, 0, RETRY_MS);
  try {
    return work();
  } finally {
    release(file);
  }
}

/** Returns whether the caller may continue, because it holds the lock or no lock can be created. */
function acquire(file: string): boolean {
  try {
    closeSync(openSync(file, "wx"));
    held.add(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") return true;
    return isStale(file) && !remove(file); // a stale lock that cannot be removed is ignored
  }
}

/**
 * Returns false if the file cannot be removed, because the disk is read-only or the folder belongs to somebody else.
 */
function remove(file: string): boolean {
  try {
    rmSync(file, { force: true });
    return true;
  } catch {
    return false;
  }
}

function release(file: string): void {
  if (held.delete(file)) rmSync(file, { force: true });
}

function isStale(file: string): boolean {
  const since = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  return since !== undefined && Math.abs(Date.now() - since) > STALE_MS;
}
