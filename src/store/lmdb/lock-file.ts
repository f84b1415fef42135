/**
 * Allocates LMDB's lock file before LMDB opens it. LMDB maps this file and writes into it, and a write into a
 * hole of the file on a full disk ends the process (SIGBUS). The file is written under a temporary name and
 * then linked into place, which succeeds for one process only, however many try.
 */

import { randomBytes } from "node:crypto";
import { existsSync, linkSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isDiskFull } from "./data-file.ts";

/** LMDB needs 32 976 bytes for 512 readers, and uses the rest for more readers. */
const BYTES = 36_864;

/** Creates the file if there is none. Throws if the disk is full; ignores other failures, since LMDB may need no lock file. */
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
