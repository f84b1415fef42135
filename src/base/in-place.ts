/**
 * Whether an opened file or folder is the one its path named when its folder was listed. A folder on
 * the way may have been exchanged for a symlink since, which no flag of open() forbids.
 */

import { readlinkSync } from "node:fs";

/**
 * Returns false if a symlink was followed on the way. Linux tells where an open file lies; on other
 * systems this is always true. REQUIRES: the path is absolute, and that of its root has no symlinks.
 */
export function isInPlace(descriptor: number, path: string): boolean {
  if (process.platform !== "linux") return true;
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`) === path;
  } catch {
    return true; // without /proc
  }
}
