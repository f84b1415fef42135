/**
 * Holds the state that a folder on disk had at the last refresh. The state consists of every file that the rules
 * admit, with its version. The folder and all folders below it are watched. refresh() looks again at every entry that
 * may have changed, and reports each change.
 *
 * The state takes about 45 bytes plus the name for each file, and 2 KiB for each folder. Every refresh reads the
 * folders for which the system sends no change notices.
 */

import { lstatSync, readdirSync, type BigIntStats } from "node:fs";
import { join, resolve } from "node:path";
import { throwIfOutOfFiles } from "../base/out-of-files.ts";
import { inFolder } from "../base/no-follow.ts";
import { isGone, noFolder, unreadableFolder } from "../base/folder-errors.ts";
import type { Slice } from "../base/yield.ts";
import { isValidPath, pathWithin } from "../base/paths.ts";
import {
  callersRules,
  isIgnored,
  rulesBelow,
  withRules,
  type Rules,
} from "../ingest/sources/ignore.ts";
import { childOf, readRules, RULE_FILES, versionOf, type Child } from "../ingest/sources/walk.ts";
import type { SkipReason } from "../store/format/records.ts";
import { KnownEntries } from "./known-entries.ts";
import type { Notices, WatchedFolder } from "./notices.ts";

export type DiskEntry =
  | {
      readonly kind: "file";
      /**
       * The version of the file. Undefined if the file changed so recently that another change might have the same
       * timestamps.
       */
      readonly version: string | undefined;
      readonly size: number;
    }
  | { readonly kind: "skipped"; readonly reason: SkipReason };

/** Called with the new state of a path, or with undefined if the path has no file that is to be indexed. */
export type OnChange = (path: string, entry: DiskEntry | undefined) => void;

export interface DiskTreeOptions {
  /** The absolute path of the folder, with symbolic links resolved. */
  readonly root: string;
  readonly patterns: readonly string[];
  /** Whether .gitignore and .ignore files apply. */
  readonly gitignore: boolean;
  /**
   * The engine's data directory, with symbolic links resolved. The tree leaves this directory out. Otherwise, each
   * index run would count as a change, because it writes there.
   */
  readonly dataFolder: string;
  readonly maxFileSize: number;
  readonly notices: (onLost: () => void) => Notices;
  readonly onChange: OnChange;
  /** Called when a notice has arrived. */
  readonly onNotice: () => void;
}

interface Folder {
  /** The path within the root, with '/' at its end. It is '' for the root. */
  readonly path: string;
  /** A text that distinguishes the folder from a later folder with the same name. */
  readonly identity: string;
  /** The rules of the parent folders. */
  above: Rules;
  /** The rules of the parent folders, followed by the folder's own rules. */
  rules: Rules;
  /** The text of the folder's own rules. */
  rulesText: string;
  /** Whether the current rules admit every entry in `entries`, so that the rules need not be tried again. */
  areAdmitted: boolean;
  /** All entries except folders. */
  readonly entries: KnownEntries;
  /** The child folders. Undefined if the folder has never had any, which holds for most folders. */
  folders: Map<string, Folder> | undefined;
  watched: WatchedFolder | undefined;
  /**
   * The names for which notices have arrived, or "all" if any entry may have changed. Undefined if no notice has
   * arrived.
   */
  heard: Set<string> | "all" | undefined;
}

/**
 * If notices have arrived for more names than this, the whole folder is read again. Otherwise, its entries are looked
 * at one by one.
 */
const MOST_NAMES = 64;
/**
 * The maximum number of names that are looked up in packed entries. With more names, it takes less time to unpack the
 * entries first.
 */
const MOST_PACKED = 8;

export class DiskTree {
  readonly #options: DiskTreeOptions;
  /** The path of the data directory within the root, with '/' at its end. */
  readonly #dataPath: string | undefined;
  #notices: Notices;
  #root: Folder | undefined;
  /** Folders with new notices. */
  readonly #heard = new Set<Folder>();
  /** Folders for which the system sends no notices. */
  readonly #silent = new Set<Folder>();
  /** The files whose version is not known yet, by path. A value has the file's folder and its name in that folder. */
  readonly #young = new Map<string, { readonly folder: Folder; readonly name: string }>();
  #folders = 0;
  /** Whether the last refresh was certain that all notices had arrived. */
  #isHeard = true;

  constructor(options: DiskTreeOptions) {
    this.#options = options;
    const within = pathWithin(options.root, options.dataFolder);
    this.#dataPath = within && `${within}/`;
    this.#notices = options.notices(() => this.#hearEverything());
  }

  /**
   * Whether the system reports changes of the whole tree ("notices"), of a part of it ("partly"), or none ("polling").
   */
  get followed(): "notices" | "polling" | "partly" {
    if (this.#isHeard && this.#silent.size === 0) return "notices";
    return this.#isHeard && this.#silent.size < this.#folders ? "partly" : "polling";
  }

  /**
   * Looks again at every entry that may have changed since the last call. Rejects with SOURCE_NOT_FOUND or
   * SOURCE_UNREADABLE if the root is not a folder or cannot be read. If `anew` is true, reports all entries again.
   */
  async refresh(slice: Slice, anew = false): Promise<void> {
    this.#isHeard = await this.#notices.barrier();
    if (anew) this.#dropAll();
    const identity = this.#identityOfRoot();
    if (this.#root?.identity !== identity) {
      if (this.#root) this.#drop(this.#root);
      const above = await callersRules(this.#options.patterns, slice);
      this.#root = this.#newFolder("", identity, above);
    }
    if (!this.#isHeard) this.#hearEverything();
    for (const folder of this.#silent) this.#hear(folder, undefined);
    // watches may be available again; if one attempt fails, the others would fail, too
    for (const folder of this.#silent) if (!this.#watch(folder)) break;
    for (const { folder, name } of this.#young.values()) this.#hear(folder, name);
    // also visits folders that are added during the loop
    for (const folder of this.#heard) await this.#lookAgain(folder, slice);
  }

  async #lookAgain(folder: Folder, slice: Slice): Promise<void> {
    this.#heard.delete(folder);
    const { heard = new Set<string>() } = folder;
    folder.heard = undefined;
    try {
      if (heard === "all" || heard.size > MOST_NAMES) await this.#scan(folder, slice, false);
      else {
        if (heard.size > MOST_PACKED) folder.entries.unpack();
        for (const name of heard) await this.#look(folder, name, slice);
      }
    } catch (error) {
      this.#hear(folder, undefined); // the next refresh reads this folder again
      throw error;
    } finally {
      folder.entries.pack();
    }
  }

  close(): void {
    if (this.#root) this.#unwatch(this.#root);
    this.#notices.close();
  }

  #identityOfRoot(): string {
    const { root } = this.#options;
    try {
      const stat = lstatSync(root, { bigint: true });
      if (stat.isDirectory()) return identityOf(stat);
    } catch (cause) {
      if (!isGone(cause)) throw unreadableFolder(root, cause);
    }
    this.#dropAll();
    throw noFolder(root, undefined);
  }

  #newFolder(path: string, identity: string, above: Rules): Folder {
    const folder: Folder = {
      path,
      identity,
      above,
      rules: above,
      rulesText: "",
      areAdmitted: true,
      entries: new KnownEntries(),
      folders: undefined,
      watched: undefined,
      heard: undefined,
    };
    this.#silent.add(folder);
    this.#watch(folder); // before the folder is read, so that no change is missed
    this.#folders++;
    this.#hear(folder, undefined);
    return folder;
  }

  /** Watches a folder. Returns true if notices of the folder will arrive from now on. */
  #watch(folder: Folder): boolean {
    folder.watched = this.#notices.watch(join(this.#options.root, folder.path), {
      changed: (name) => {
        this.#hear(folder, name);
        this.#options.onNotice();
      },
      ended: () => {
        this.#silent.add(folder);
        folder.watched = undefined;
      },
    });
    if (folder.watched) this.#silent.delete(folder);
    return folder.watched !== undefined;
  }

  #hear(folder: Folder, name: string | undefined): void {
    this.#heard.add(folder);
    if (name === undefined) folder.heard = "all";
    else if (folder.heard === undefined) folder.heard = new Set([name]);
    else if (folder.heard !== "all") folder.heard.add(name);
  }

  #hearEverything(folder = this.#root): void {
    if (!folder) return;
    this.#hear(folder, undefined);
    for (const below of foldersIn(folder)) this.#hearEverything(below);
  }

  /** Reads a folder. `isDeep` is true if the rules of its parent folders have changed. */
  async #scan(folder: Folder, slice: Slice, isDeep: boolean): Promise<void> {
    const children = this.#children(folder);
    const rulesChanged = await this.#readRules(folder, children, slice);
    if (isDeep || rulesChanged) folder.areAdmitted = false;
    folder.entries.unpack();
    const seen = new Set<string>();
    for (const child of children) {
      if (slice.isOver) await slice.rest();
      const name = nameOf(child);
      seen.add(name);
      if (folder.areAdmitted && child.kind === "file" && folder.entries.get(name) !== undefined)
        this.#put(folder, name, this.#entryOf(folder.path + name, "file"));
      else await this.#take(folder, child, slice, { isDeep: isDeep || rulesChanged });
    }
    folder.areAdmitted = true;
    for (const name of [...folder.entries.names(), ...(folder.folders?.keys() ?? [])])
      if (!seen.has(name)) this.#forget(folder, name);
    folder.entries.pack();
  }

  /** Checks one entry of a folder. */
  async #look(folder: Folder, name: string, slice: Slice): Promise<void> {
    if (slice.isOver) await slice.rest();
    if (name === ".git") return;
    if (RULE_FILES.includes(name)) return this.#scan(folder, slice, false);
    const now = Date.now();
    const stat = this.#stat(folder.path + name);
    if (stat) await this.#take(folder, childWith(name, stat), slice, { file: { stat, now } });
    else this.#forget(folder, name);
  }

  #children(folder: Folder): Child[] {
    try {
      const path = resolve(this.#options.root, folder.path);
      return (inFolder(path, (place) => readdirSync(place, { withFileTypes: true })) ?? [])
        .filter(({ name }) => name !== ".git")
        .map(childOf);
    } catch (error) {
      throwIfOutOfFiles(error);
      if (folder.path === "" && !isGone(error)) throw unreadableFolder(this.#options.root, error);
      return []; // the folder was deleted, or is not readable
    }
  }

  #stat(path: string): BigIntStats | undefined {
    try {
      const place = `${this.#options.root}/${path}`; // join() would take a tenth of the time of a refresh
      return lstatSync(place, { bigint: true, throwIfNoEntry: false });
    } catch {
      return undefined;
    }
  }

  /** Reads the rules of a folder. Resolves to true if they have changed. */
  async #readRules(folder: Folder, children: readonly Child[], slice: Slice): Promise<boolean> {
    if (!this.#options.gitignore) children = [];
    const own = children
      .filter(({ name, kind }) => kind === "file" && RULE_FILES.includes(name))
      .map(({ name }) => join(this.#options.root, folder.path, name))
      .map((file) => ({ file, text: readRules(file) }));
    const text = own.map((one) => one.text).join("\0");
    const isChanged = text !== folder.rulesText;
    let rules = folder.above;
    for (const one of own.sort((a, b) => (a.file < b.file ? -1 : 1))) {
      const lines = one.text.split(/\r?\n/);
      rules = await withRules(rules, { file: one.file, bytes: one.text.length, lines }, slice);
    }
    folder.rules = rules;
    folder.rulesText = text;
    return isChanged;
  }

  /**
   * Records the state of one entry. `file` is given if the caller has already called lstat() for the entry. `isDeep`
   * is true if the rules have changed.
   */
  async #take(
    folder: Folder,
    child: Child,
    slice: Slice,
    { file, isDeep = false }: { readonly file?: LookedAt; readonly isDeep?: boolean },
  ): Promise<void> {
    const name = nameOf(child);
    const isFolder = child.kind === "folder";
    if (isIgnored(folder.rules, name, isFolder)) return this.#forget(folder, name);
    if (isFolder) return this.#takeFolder(folder, name, slice, isDeep);
    if (folder.folders?.has(name)) this.#forget(folder, name);
    this.#put(folder, name, this.#entryOf(folder.path + name, child.kind, file));
  }

  async #takeFolder(folder: Folder, name: string, slice: Slice, isDeep: boolean): Promise<void> {
    const path = `${folder.path}${name}/`;
    if (path === this.#dataPath) return this.#forget(folder, name);
    const stat = isValidPath(path.slice(0, -1)) ? this.#stat(path) : undefined;
    if (!stat?.isDirectory()) return this.#forget(folder, name);
    const known = folder.folders?.get(name);
    const above = rulesBelow(folder.rules, name);
    if (known?.identity === identityOf(stat)) {
      known.above = above;
      if (isDeep) await this.#scan(known, slice, true);
      return;
    }
    this.#forget(folder, name);
    folder.folders ??= new Map();
    // the same refresh also reads the new folder
    folder.folders.set(name, this.#newFolder(path, identityOf(stat), above));
  }

  #entryOf(path: string, kind: Child["kind"], file?: LookedAt): DiskEntry | undefined {
    if (!isValidPath(path)) return undefined;
    if (kind === "symlink") return { kind: "skipped", reason: "symlink" };
    if (kind !== "file") return { kind: "skipped", reason: "unreadable" };
    const now = file?.now ?? Date.now(); // the time before lstat() is called
    const stat = file ? file.stat : this.#stat(path);
    if (!stat?.isFile()) return undefined; // something else has replaced the file
    if (stat.size > this.#options.maxFileSize) return { kind: "skipped", reason: "too-large" };
    return { kind: "file", version: versionOf(stat, now), size: Number(stat.size) };
  }

  #put(folder: Folder, name: string, entry: DiskEntry | undefined): void {
    const path = folder.path + name;
    if (entry?.kind === "file" && entry.version === undefined)
      this.#young.set(path, { folder, name });
    else this.#young.delete(path);
    if (!entry) return this.#forget(folder, name);
    const state = stateOf(entry);
    if (state !== YOUNG && folder.entries.get(name) === state) return;
    folder.entries.set(name, state);
    this.#options.onChange(path, entry);
  }

  #forget(folder: Folder, name: string): void {
    const below = folder.folders?.get(name);
    if (below) {
      folder.folders!.delete(name);
      this.#drop(below);
    }
    if (!folder.entries.delete(name)) return;
    this.#young.delete(folder.path + name);
    this.#options.onChange(folder.path + name, undefined);
  }

  /** Removes a folder that no longer exists, with all its entries and child folders. */
  #drop(folder: Folder): void {
    this.#unwatch(folder);
    this.#tellGone(folder);
  }

  #dropAll(): void {
    if (this.#root) this.#drop(this.#root);
    this.#root = undefined;
  }

  #tellGone(folder: Folder): void {
    for (const name of folder.entries.names()) {
      this.#young.delete(folder.path + name);
      this.#options.onChange(folder.path + name, undefined);
    }
    for (const below of foldersIn(folder)) this.#tellGone(below);
  }

  #unwatch(folder: Folder): void {
    folder.watched?.close();
    this.#folders--;
    this.#silent.delete(folder);
    this.#heard.delete(folder);
    for (const below of foldersIn(folder)) this.#unwatch(below);
  }
}

/** The result of lstat() for a file, and the time just before the call. */
interface LookedAt {
  readonly stat: BigIntStats;
  readonly now: number;
}

function childWith(name: string, stat: BigIntStats): Child {
  if (stat.isDirectory()) return { name: `${name}/`, kind: "folder" };
  const kind = stat.isFile() ? "file" : stat.isSymbolicLink() ? "symlink" : "special";
  return { name, kind };
}

const nameOf = ({ name, kind }: Child): string => (kind === "folder" ? name.slice(0, -1) : name);

/**
 * Returns a text that distinguishes a folder from all other folders. If a folder is deleted and created again, the new
 * folder may get the same inode, but it needs a new watch. So the text also contains the creation time.
 */
const identityOf = ({ dev, ino, birthtimeNs }: BigIntStats): string =>
  `${dev}:${ino}:${birthtimeNs}`;

const foldersIn = ({ folders }: Folder): Iterable<Folder> => folders?.values() ?? [];

/** The state of a file whose version is unknown. Each time that such a file is looked at, it may have changed. */
const YOUNG = "young";

/**
 * Returns a text that describes an entry. If the text is the same as before and is not YOUNG, the entry has not
 * changed.
 */
const stateOf = (entry: DiskEntry): string =>
  entry.kind === "file" ? (entry.version ?? YOUNG) : entry.reason;
