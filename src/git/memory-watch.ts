/**
 * Limits the memory of git processes on Linux, which reports how much memory a process uses. In a damaged pack, two
 * objects may each be stored as a difference from the other. Such a pack of a few hundred bytes makes git allocate
 * 200 MB a second without any output. Memory-mapped packs are not counted.
 */

import { readFileSync } from "node:fs";
import type { ChildProcess } from "node:child_process";

/**
 * The maximum amount of memory that the git processes of an operation may use together, in bytes. Reading the whole
 * history of the Linux kernel takes a quarter of this.
 */
export const MOST_GIT_BYTES = 2 ** 31;
const EVERY_MS = 250;

/** Checks the memory of the live processes at intervals, as long as there are any. */
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

  /** Starts the checks, unless they are already running. REQUIRES: a process was added. */
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

/** Returns the memory of a process in bytes, without mapped files. Returns 0 if the process has ended. */
function bytesOf(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "latin1");
    return 1_024 * Number(/^RssAnon:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  } catch {
    return 0;
  }
}
