/**
 * Limits the memory of git processes, if Linux reports it. A damaged pack can contain objects that are each stored as a
 * difference from the other. A pack of a few hundred bytes then makes git allocate 200 MB a second without output.
 * Memory-mapped packs do not count.
 */

import { readFileSync } from "node:fs";
import type { ChildProcess } from "node:child_process";

/**
 * The maximum amount of memory of git's processes. Reading all of the Linux kernel's history takes a quarter of this.
 */
export const MOST_GIT_BYTES = 2 ** 31;
const EVERY_MS = 250;

/** Checks the memory of running processes, as long as there are any. */
export class MemoryWatch {
  readonly #live: ReadonlySet<ChildProcess>;
  readonly #mostBytes: number;
  readonly #onTooMuch: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(live: ReadonlySet<ChildProcess>, mostBytes: number, onTooMuch: () => void) {
    this.#live = live;
    this.#mostBytes = mostBytes;
    this.#onTooMuch = onTooMuch;
  }

  /** Starts the checks. REQUIRES: a process was added. */
  begin(): void {
    if (process.platform !== "linux") return;
    this.#timer ??= setInterval(() => this.#look(), EVERY_MS).unref();
  }

  #look(): void {
    let bytes = 0;
    for (const { pid } of this.#live) bytes += bytesOf(pid);
    if (bytes > this.#mostBytes) this.#onTooMuch();
    if (this.#live.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** Returns the memory of a process without mapped files; 0 if the process has ended. */
function bytesOf(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    return 1_024 * Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  } catch {
    return 0;
  }
}
