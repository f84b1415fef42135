/**
 * Remembers which files a front's stream has delivered, so that a replica that continues the stream of a dead node
 * delivers none of them again. A remembered file takes about 35 bytes.
 */

import type { SentFile } from "../wire/calls.ts";
import { numberOf } from "./front-state.ts";

export class DeliveredFiles {
  readonly #most: number;
  /** The numbers of the files that are remembered, by segment. */
  readonly #files = new Map<number, Set<number>>();
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Whether some delivered files are not remembered, because there were too many. */
  get isIncomplete(): boolean {
    return this.#count > this.#most;
  }

  add({ origin, file }: SentFile): void {
    if (++this.#count > this.#most) return;
    const segment = numberOf(...origin);
    const files = this.#files.get(segment);
    if (files) files.add(file);
    else this.#files.set(segment, new Set([file]));
  }

  has({ origin, file }: SentFile): boolean {
    return this.#files.get(numberOf(...origin))?.has(file) ?? false;
  }
}
