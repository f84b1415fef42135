/**
 * LMDB maps its lock file and writes into it. Where that has holes and the disk is full, the write
 * ends the process (SIGBUS). So the file is there, with all its blocks, before LMDB is: written
 * beside its place and linked to it, which happens once, whoever else does the same.
 */

import { randomBytes } from "node:crypto";
import { existsSync, linkSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isOutOfRoom } from "./data-file.ts";

/** LMDB's own length with 512 readers is 32 976; it takes what more there is for more readers. */
const BYTES = 36_864;

/** Throws what the disk says when it is full. Other failures are left to LMDB, which may need no lock file. */
export function allocateLockFile(file: string): void {
  if (existsSync(file)) return;
  const begun = join(dirname(file), `.lock-${randomBytes(8).toString("hex")}`);
  try {
    writeFileSync(begun, Buffer.alloc(BYTES));
    linkSync(begun, file);
  } catch (error) {
    if (isOutOfRoom(error)) throw error;
  } finally {
    rmSync(begun, { force: true });
  }
}
