/**
 * Lets only one process at a time sync into a folder. The lock is a file that contains the process id of its owner
 * and a random text that no other owner has. The owner regularly updates the modification time of the file. A lock is
 * void if its owner no longer runs, and another process may then take it. A lock is also void if its file has not been
 * updated for two minutes, because the id in it may belong to another process by then. An owner that was suspended for
 * that long does not touch the lock of its successor.
 */

import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { QuernError } from "../base/errors.ts";
import { throwIfOutOfFiles } from "../base/out-of-files.ts";

const RENEW_MS = 20_000;
const VOID_MS = 120_000;

/** Takes the lock. Returns a function that releases it. Throws INDEX_LOCKED if another process holds the lock. */
export function lockFolder(folder: string): () => void {
  const file = join(folder, "lock");
  mkdirSync(folder, { recursive: true });
  const own = `${process.pid} ${randomBytes(8).toString("hex")}`;
  if (!take(file, own) && (!isVoid(file) || !retake(file, own))) throw held(folder, ownerOf(file));
  const timer = setInterval(() => renew(file, own), RENEW_MS).unref();
  return () => {
    clearInterval(timer);
    if (textOf(file) === own) rmSync(file, { force: true });
  };
}

function take(file: string, own: string): boolean {
  try {
    writeFileSync(file, own, { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throwIfOutOfFiles(error);
    throw error;
  }
}

function retake(file: string, own: string): boolean {
  rmSync(file, { force: true });
  return take(file, own);
}

function isVoid(file: string): boolean {
  const since = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  if (since === undefined || Date.now() - since > VOID_MS) return true;
  const owner = ownerOf(file);
  return owner !== undefined && !isAlive(owner);
}

/** Returns the text of the lock, or undefined if there is none. */
function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/** Returns the id in the lock. Returns undefined if the file is empty, because its owner is about to write the id. */
const ownerOf = (file: string): number | undefined =>
  Number(textOf(file)?.split(" ")[0]) || undefined;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function renew(file: string, own: string): void {
  try {
    if (textOf(file) === own) utimesSync(file, new Date(), new Date());
  } catch {
    // somebody has deleted the file; the run continues without a lock
  }
}

function held(folder: string, owner: number | undefined): QuernError {
  const who = owner === undefined ? "another process" : `process ${owner}`;
  const message = `${who} syncs into ${folder}; wait for it, or end it`;
  return new QuernError("INDEX_LOCKED", message);
}
