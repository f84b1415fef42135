/**
 * Ends an index run before it fills the disk, because other programs need free space. Deleting what the run has
 * written needs free space, too. A run on a nearly full disk may still succeed, because free pages within the data
 * file can be used without free space on the disk. Between two checks, each thread writes at most one batch, or the
 * posting lists of one segment. A check takes 0.1 ms, most of it in another thread.
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

  /**
   * Rejects with DISK_FULL if too little space is free. The first call determines how much space must stay free, and
   * never rejects with DISK_FULL.
   */
  async check(repository: string): Promise<void> {
    const disk = await statfs(this.#folder);
    const free = disk.bavail * disk.bsize;
    this.#least ??= Math.min(LEAST_FREE_BYTES, free * LEAST_FREE_PART);
    if (free >= this.#least) return;
    const mebibytes = Math.ceil(this.#least / 2 ** 20);
    throw new QuernError(
      "DISK_FULL",
      `${repository} leaves less than ${mebibytes} MiB of the disk free: make room, or omit the repository; nothing that was stored is lost`,
    );
  }
}
