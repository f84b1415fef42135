/**
 * Allocates LMDB's lock file before LMDB opens it. LMDB maps this file and writes to it. On a full disk, a write into a
 * hole of the file would end the process (SIGBUS). The file is written under a temporary name and then linked to its
 * final name. If several processes try this at once, only one of them succeeds.
 */

import { randomBytes } from "node:crypto";
import { existsSync, linkSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isDiskFull } from "./failures.ts";

/**
 * The length of the lock file. LMDB needs 32 976 bytes for 512 readers, and uses the remaining bytes for more readers.
 */
const BYTES = 36_864;

/**
 * Creates the lock file if it does not exist. Throws if the disk is full. Ignores other failures, because LMDB may need
 * no lock file.
 */
export function allocateLockFile(file: string): void {
  if (existsSync(file)) return;
  const temporary = join(dirname(file), `.lock-${randomBytes(8).toString("hex")}`);
  try {
    writeFileSync(temporary, Buffer.alloc(BYTES));
    linkSync(temporary, file);
  } catch (error) {
    if (isDiskFull(error)) throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}
