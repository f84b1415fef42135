/**
 * One process syncs into a folder at a time. The lock is a file with the number of its process, whose
 * time is renewed; it is void once the process is gone, or has not renewed it for two minutes (the
 * number may belong to another by then).
 */

import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { QuernError } from "../base/errors.ts";

const RENEW_MS = 20_000;
const VOID_MS = 120_000;

/** Returns what gives it back. Throws INDEX_LOCKED where it is held. */
export function lockFolder(folder: string): () => void {
  const file = join(folder, "lock");
  mkdirSync(folder, { recursive: true });
  if (!take(file) && (!isVoid(file) || !retake(file))) throw held(folder, ownerOf(file));
  const timer = setInterval(() => renew(file), RENEW_MS).unref();
  return () => {
    clearInterval(timer);
    rmSync(file, { force: true });
  };
}

function take(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function retake(file: string): boolean {
  rmSync(file, { force: true });
  return take(file);
}

function isVoid(file: string): boolean {
  const since = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  if (since === undefined || Date.now() - since > VOID_MS) return true;
  const owner = ownerOf(file);
  return owner !== undefined && !isAlive(owner);
}

function ownerOf(file: string): number | undefined {
  try {
    return Number(readFileSync(file, "utf8")) || undefined; // empty: its owner is about to write it
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function renew(file: string): void {
  try {
    utimesSync(file, new Date(), new Date());
  } catch {
    // taken away by somebody: the run goes on, and ends
  }
}

function held(folder: string, owner: number | undefined): QuernError {
  const who = owner === undefined ? "another process" : `process ${owner}`;
  const message = `${who} syncs into ${folder}; wait for it, or end it`;
  return new QuernError("INDEX_LOCKED", message);
}
