/**
 * Lets processes open and close a data file one at a time. The last process that closes LMDB destroys the locks in
 * LMDB's lock file. If another process opens the data file meanwhile, it uses the destroyed locks, and its first
 * transaction fails with EINVAL. The same happens to every process that joins in using these locks. When 800 processes
 * opened and closed a data file without the lock of this module, four at a time, two of them failed.
 *
 * The lock is a file that exists while a process holds the lock. A lock file that is older than two seconds is stale.
 * So a process that was killed while it held the lock does not block other processes. If no file can be created, for
 * example on a read-only disk, processes do not wait for each other.
 */

import { closeSync, openSync, rmSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const FILE = ".turn"; // begins with a dot, because a folder with other visible files cannot become a data directory
const STALE_MS = 2000; // opening takes 1 to 3 ms, and closing takes as long as the disk needs to write
const RETRY_MS = 2;

/** The paths of the lock files that this thread has created. */
const held = new Set<string>();

/** Waits for the lock of a data directory, and runs `work` while holding it. */
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
 * Does the same as withDirectoryLock(), but blocks this thread while it waits. If this thread already holds the lock,
 * runs `work` immediately.
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

/** Tries to take the lock. Returns true if the caller holds the lock now, and also if no lock file can be created. */
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
 * Deletes the lock file. Returns false if this is impossible, because the disk is read-only or the folder belongs to
 * another user.
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
