/**
 * The system's notices of changes, and how a reader knows that it has heard them all.
 *
 * On Linux all watches of a thread share one queue (inotify), in the order in which things happened. So
 * whoever touches a file of his own and waits for the notice of that has heard of everything that happened
 * before: a *barrier*, 0.1 to 0.2 ms. The queue holds a bounded number of notices, and the system says
 * nothing of those it drops; but it drops only where the queue was full, and a full queue is delivered in
 * one turn of the event loop. So a turn with half as many notices as the queue holds counts as a loss.
 *
 * On other systems and on network file systems there is no such order: watch() answers undefined, and who
 * follows a tree looks at the disk itself.
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
  /** Watches a folder, not what is below it. undefined: there are no notices for it. Throws nothing. */
  watch(folder: string, listener: NoticeListener): WatchedFolder | undefined;
  /** Resolves when every notice of what happened before the call was delivered; false: that cannot be known. */
  barrier(): Promise<boolean>;
  close(): void;
}

export interface NoticeListener {
  /** Something happened to the entry of that name; undefined: to some entry. */
  readonly changed: (name: string | undefined) => void;
  /** Nothing more will be heard of the folder. */
  readonly ended: () => void;
}

export interface WatchedFolder {
  close(): void;
}

/** Makes the notices for a tree; `onLost` is called when some may have been dropped. */
export type MakeNotices = (root: string, onLost: () => void) => Notices;

/** Under which a test hands a workspace notices of its own. No host knows it. */
export const NOTICES: unique symbol = Symbol("quern.notices");

/** How long the notice of a barrier may take. It comes in a fraction of a millisecond, or after the turn that the caller's thread is at. */
const BARRIER_MS = 2_000;
const QUEUE_FILE = "/proc/sys/fs/inotify/max_queued_events";
const QUEUE_DEFAULT = 16_384;
/** File systems whose changes on other machines nobody tells of, by the type that statfs has for them: NFS, SMB twice, CIFS, FUSE, 9P. */
const REMOTE = new Set([0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0x65735546, 0x01021997]);

export const systemNotices: MakeNotices = (root, onLost) =>
  process.platform === "linux" && isLocal(root) ? new LinuxNotices(onLost) : NO_NOTICES;

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

class LinuxNotices implements Notices {
  readonly #onLost: () => void;
  readonly #most = queueLength() / 2;
  readonly #folder = mkdtempSync(join(tmpdir(), "quern-notices-"));
  readonly #own: FSWatcher;
  /** By the name of the file that was touched. */
  readonly #waiting = new Map<string, (isHeard: boolean) => void>();
  readonly #free: string[] = [];
  #files = 0;
  #inThisTurn = 0;
  #isBroken = false;

  constructor(onLost: () => void) {
    this.#onLost = onLost;
    this.#own = watch(this.#folder, { persistent: false }, (_, name) => this.#passed(name));
    this.#own.on("error", () => this.#break());
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
      return undefined; // it is gone, or the limit of watches is reached
    }
  }

  barrier(): Promise<boolean> {
    if (this.#isBroken) return Promise.resolve(false);
    return new Promise((resolve) => {
      const name = this.#free.pop() ?? this.#newFile();
      const timer = setTimeout(() => this.#break(), BARRIER_MS);
      this.#waiting.set(name, (isHeard) => {
        clearTimeout(timer);
        resolve(isHeard);
      });
      const now = new Date();
      utimesSync(join(this.#folder, name), now, now);
    });
  }

  #newFile(): string {
    const name = String(this.#files++);
    writeFileSync(join(this.#folder, name), "");
    return name;
  }

  #passed(name: string | null): void {
    const resolve = name === null ? undefined : this.#waiting.get(name);
    if (!resolve) return; // of its making
    this.#waiting.delete(name!);
    this.#free.push(name!);
    resolve(true);
  }

  /** The queue is delivered within one turn; the count of a turn ends with it. */
  #count(): void {
    if (this.#inThisTurn++ === 0) setImmediate(() => (this.#inThisTurn = 0));
    if (this.#inThisTurn === this.#most) this.#onLost();
  }

  #break(): void {
    this.#isBroken = true;
    for (const resolve of this.#waiting.values()) resolve(false);
    this.#waiting.clear();
  }

  close(): void {
    this.#break();
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
