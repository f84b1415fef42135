/** Fills a small disk. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Leaves no room on a disk of less than 64 MiB. Removing `filler` gives it back. */
export const fill = (disk: string): void => {
  try {
    writeFileSync(join(disk, "filler"), Buffer.alloc(2 ** 26));
  } catch {
    // writes as much as the disk accepts
  }
};
