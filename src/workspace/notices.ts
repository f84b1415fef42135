/**
 * Receives the system's change notifications (notices), and tells its reader whether all of them have arrived.
 *
 * On Linux, all watches of a thread share one queue (inotify), which keeps the order of events. So a reader can
 * change a file of its own, and wait for the notice of that change. When this notice arrives, all earlier notices
 * have arrived, too. This is called a *barrier*. It takes 0.1 to 0.2 ms.
 *
 * The queue is bounded, and the system does not say when it drops notices. However, it drops notices only if the
 * queue is full, and a full queue is delivered in one turn of the event loop. So if one turn delivers three quarters
 * of the notices that the queue can hold, some notices are assumed to be lost. The last quarter is reserved for
 * notices of watches that the host has set, which are not counted here.
 *
 * Other systems and network file systems do not guarantee this order. There, watch() returns undefined, and the tree is
 * read from disk.
 */

import {
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  utimesSync,
  watch,
  writeFileSync,
} from "node:fs";
import type { FSWatcher } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Notices {
  /**
   * Watches a folder, but not the folders below it. Returns undefined if the system sends no notices for the folder.
   * Never throws.
   */
  watch(folder: string, listener: NoticeListener): WatchedFolder | undefined;
  /**
   * Resolves to true when all notices of earlier changes have been delivered, or to false if this cannot be known.
   */
  barrier(): Promise<boolean>;
  close(): void;
}

export interface NoticeListener {
  /**
   * Called when the entry with this name has changed. If `name` is undefined, any entry of the folder may have
   * changed.
   */
  readonly changed: (name: string | undefined) => void;
  /** Called when no further notices of the folder will arrive. */
  readonly ended: () => void;
}

export interface WatchedFolder {
  close(): void;
}

/** Creates the Notices of a tree. `onLost` is called when the system may have dropped notices. */
export type MakeNotices = (root: string, onLost: () => void) => Notices;

/**
 * The maximum time to wait for the notice of a barrier. The notice usually arrives within a fraction of a
 * millisecond, or after the current turn of the calling thread's event loop.
 */
const BARRIER_MS = 2_000;
const QUEUE_FILE = "/proc/sys/fs/inotify/max_queued_events";
const QUEUE_DEFAULT = 16_384;
/**
 * The statfs types of file systems that do not report the changes of other machines. They are NFS, SMB (two types),
 * CIFS, FUSE and 9P.
 */
const REMOTE = new Set([0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0x65735546, 0x01021997]);

export const systemNotices: MakeNotices = (root, onLost) => {
  if (process.platform !== "linux" || !isLocal(root)) return NO_NOTICES;
  try {
    return new LinuxNotices(onLost);
  } catch {
    return NO_NOTICES; // the limit of inotify instances or of open files is reached
  }
};

export const NO_NOTICES: Notices = {
  watch: () => undefined,
  barrier: async () => false,
  close: () => {},
};

function isLocal(root: string): boolean {
  try {
    return !REMOTE.has(Number(statfsSync(root).type));
  } catch {
    return false;
  }
}

/**
 * The number of notices that were delivered in this turn of the thread's event loop, and all objects that receive
 * notices.
 */
const turn = { notices: 0, receivers: new Set<LinuxNotices>() };

class LinuxNotices implements Notices {
  readonly #onLost: () => void;
  readonly #most = Math.floor(0.75 * queueLength());
  readonly #folder: string;
  readonly #own: FSWatcher;
  /** The pending barriers, by the name of the file that each has touched. */
  readonly #waiting = new Map<string, (isHeard: boolean) => void>();
  readonly #free: string[] = [];
  #files = 0;
  #isBroken = false;

  constructor(onLost: () => void) {
    this.#onLost = onLost;
    this.#folder = mkdtempSync(join(tmpdir(), "quern-notices-"));
    try {
      this.#own = watch(this.#folder, { persistent: false }, (_, name) => this.#passed(name));
    } catch (error) {
      rmSync(this.#folder, { recursive: true, force: true });
      throw error;
    }
    this.#own.on("error", () => this.#break());
    turn.receivers.add(this);
  }

  watch(folder: string, { changed, ended }: NoticeListener): WatchedFolder | undefined {
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        this.#count();
        changed(name === null || name.includes("\ufffd") ? undefined : name);
      });
      watcher.on("error", () => {
        watcher.close();
        ended();
      });
      return watcher;
    } catch {
      return undefined; // the folder is gone, or the limit of watches is reached
    }
  }

  barrier(): Promise<boolean> {
    if (this.#isBroken) return Promise.resolve(false);
    return new Promise((resolve) => {
      const name = this.#free.pop() ?? this.#newFile();
      if (name === undefined) return resolve(false);
      const timer = setTimeout(() => this.#break(), BARRIER_MS);
      this.#waiting.set(name, (isHeard) => {
        clearTimeout(timer);
        resolve(isHeard);
      });
      const now = new Date();
      utimesSync(join(this.#folder, name), now, now);
    });
  }

  /** Returns the name of a new file, or undefined if it cannot be created. */
  #newFile(): string | undefined {
    const name = String(this.#files++);
    try {
      writeFileSync(join(this.#folder, name), "");
    } catch {
      return undefined; // no file descriptor is free, or the disk is full
    }
    return name;
  }

  #passed(name: string | null): void {
    const resolve = name === null ? undefined : this.#waiting.get(name);
    if (!resolve) return; // the notice of the file's creation
    this.#waiting.delete(name!);
    this.#free.push(name!);
    resolve(true);
  }

  /**
   * Counts the notices of a turn of the event loop. A full queue is delivered within one turn, so the count starts
   * again at 0 in the next turn.
   */
  #count(): void {
    if (turn.notices++ === 0) setImmediate(() => (turn.notices = 0));
    if (turn.notices === this.#most) for (const one of turn.receivers) one.#onLost();
  }

  #break(): void {
    this.#isBroken = true;
    for (const resolve of this.#waiting.values()) resolve(false);
    this.#waiting.clear();
  }

  close(): void {
    this.#break();
    turn.receivers.delete(this);
    this.#own.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function queueLength(): number {
  try {
    return Number(readFileSync(QUEUE_FILE, "utf8")) || QUEUE_DEFAULT;
  } catch {
    return QUEUE_DEFAULT;
  }
}
