/**
 * Ends an index run before it fills the disk. Other programs need space, and removing what the run has written needs
 * space, too. Space that the data file reuses does not count, so a run on a nearly full disk may still succeed. Between
 * two checks, each thread writes at most a batch, or the posting lists of one segment. A check takes 0.1 ms, most of it
 * in another thread.
 */

import { statfs } from "node:fs/promises";
import { QuernError } from "../../base/errors.ts";
import { LEAST_FREE_BYTES, LEAST_FREE_PART } from "./bounds.ts";

export class DiskRoom {
  readonly #folder: string;
  #least: number | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Throws DISK_FULL if less is free than must stay free. The first call only determines how much must stay free. */
  async check(repository: string): Promise<void> {
    const disk = await statfs(this.#folder);
    const free = disk.bavail * disk.bsize;
    this.#least ??= Math.min(LEAST_FREE_BYTES, free * LEAST_FREE_PART);
    if (free >= this.#least) return;
    const mebibytes = Math.ceil(this.#least / 2 ** 20);
    throw new QuernError(
      "DISK_FULL",
      `${repository} leaves less than ${mebibytes} MiB of the disk free: make room, or leave the repository out; what was stored before is intact`,
    );
  }
}
