/**
 * Walks a folder for directory(), and lists its files in the byte order of their paths.
 *
 * The walk calls the synchronous functions of node:fs, because a promise per file is several times slower. It pauses
 * every 2 ms. But each of these functions may wait long for the disk, so a caller that must not be delayed walks on
 * another thread (walk-elsewhere.ts).
 */

import { lstatSync, opendirSync, type BigIntStats, type Dir, type Dirent } from "node:fs";
import { join, resolve } from "node:path";
import { throwIfOutOfFiles } from "../../base/out-of-files.ts";
import { HeldFolder, inFolder, readNoFollow } from "../../base/no-follow.ts";
import { QuernError } from "../../base/errors.ts";
import type { SkipReason } from "../../store/format/records.ts";
import { isGone, unreadableFolder } from "../../base/folder-errors.ts";
import {
  callersRules,
  isIgnored,
  MOST_RULE_BYTES,
  rulesBelow,
  tooMany,
  withRules,
  type Rules,
} from "./ignore.ts";
import type { Stop } from "../../base/abort.ts";
import { Slice } from "../../base/yield.ts";
import { comparePaths, isValidPath, printablePath } from "../../base/paths.ts";
import type { Entry, WalkedFolder } from "./source.ts";

const BATCH = 256;
const REVISIONS = [0] as const;
export const RULE_FILES = [".gitignore", ".ignore"];

export interface WalkOptions {
  readonly signal: Stop;
  readonly maxFileSize: number;
}

/** Walks a tree, and yields its entries in batches of a few hundred. Rejects with SOURCE_UNREADABLE or ABORTED. */
export const walk = (tree: WalkedFolder, options: WalkOptions): AsyncGenerator<readonly Entry[]> =>
  new Walk(tree, options).entries();

/** One listing of a tree. */
class Walk {
  readonly #tree: WalkedFolder;
  readonly #maxFileSize: number;
  readonly #slice: Slice;
  /**
   * The time at which the walk began, in milliseconds since 1970. A file that changes during the walk gets no version
   * (see versionOf).
   */
  readonly #now = Date.now();
  /** The open folder of the last file that was examined. */
  readonly #held = new HeldFolder();
  #batch: Entry[] = [];

  constructor(tree: WalkedFolder, options: WalkOptions) {
    this.#tree = tree;
    this.#maxFileSize = options.maxFileSize;
    this.#slice = new Slice({ signal: options.signal });
  }

  async *entries(): AsyncGenerator<readonly Entry[]> {
    await this.#slice.rest();
    try {
      yield* this.#folder("", await callersRules(this.#tree.ignore, this.#slice));
    } finally {
      this.#held.close();
    }
    if (this.#batch.length > 0) yield this.#batch;
  }

  /** Walks a folder. `folder` ends with '/', or is '' for the root. */
  async *#folder(folder: string, above: Rules): AsyncGenerator<readonly Entry[]> {
    const children = await this.#children(folder);
    const rules = await this.#rules(folder, children, above);
    let previous: string | undefined;
    for (const child of children) {
      if (this.#slice.isOver) await this.#slice.rest();
      const path = folder + child.name;
      const twice = path === previous; // two different names that are not UTF-8 may be decoded to the same text
      previous = path;
      const isFolder = child.kind === "folder";
      const name = isFolder ? child.name.slice(0, -1) : child.name;
      if (isIgnored(rules, name, isFolder)) continue;
      if (!isFolder) this.#add(child, folder, twice);
      else if (isValidPath(path.slice(0, -1))) yield* this.#folder(path, rulesBelow(rules, name));
      else this.#skip(printablePath(path.slice(0, -1)), "invalid-path");
      if (this.#batch.length < BATCH) continue;
      yield this.#batch;
      this.#batch = [];
    }
  }

  /**
   * Returns the entries of a folder, in the order in which they are walked. A child folder sorts as if its name ended
   * with '/', because this is the order of the paths below it.
   */
  async #children(folder: string): Promise<Child[]> {
    const children: Child[] = [];
    let dir: Dir | undefined;
    try {
      const first = inFolder(resolve(this.#tree.root, folder), (path) => {
        dir = opendirSync(path, { bufferSize: 256 });
        return dir.readSync(); // Bun and Deno open the path only now
      });
      // undefined if a folder on the path has become a symlink
      for (let dirent = first ?? null; dirent !== null; dirent = dir!.readSync()) {
        if (dirent.name !== ".git") children.push(childOf(dirent));
        if (this.#slice.isOver) await this.#slice.rest();
      }
    } catch (error) {
      if (error instanceof QuernError) throw error;
      if (folder === "") throw unreadableFolder(this.#tree.root, error);
      this.#skipFailed(folder.slice(0, -1), error);
    } finally {
      dir?.closeSync();
    }
    return children.sort((a, b) => comparePaths(a.name, b.name));
  }

  async #rules(folder: string, children: readonly Child[], above: Rules): Promise<Rules> {
    if (!this.#tree.gitignore) return above;
    let rules = above;
    for (const child of children) {
      if (child.kind !== "file" || !RULE_FILES.includes(child.name)) continue;
      const file = join(this.#tree.root, folder, child.name);
      const text = readRules(file);
      const lines = text.split(/\r?\n/);
      rules = await withRules(rules, { file, bytes: text.length, lines }, this.#slice);
    }
    return rules;
  }

  #add(child: Child, folder: string, twice: boolean): void {
    const path = folder + child.name;
    if (twice || !isValidPath(path)) return this.#skip(printablePath(path), "invalid-path");
    if (child.kind === "symlink") return this.#skip(path, "symlink");
    if (child.kind !== "file") return this.#skip(path, "unreadable");
    let stat: BigIntStats;
    try {
      const place = this.#held.open(resolve(this.#tree.root, folder));
      if (place === undefined) return; // a folder on the path has become a symlink
      stat = lstatSync(join(place, child.name), { bigint: true });
    } catch (error) {
      return this.#skipFailed(path, error);
    }
    if (!stat.isFile()) return; // the entry was replaced after the folder was read
    if (stat.size > this.#maxFileSize) return this.#skip(path, "too-large");
    const version = versionOf(stat, this.#now);
    this.#batch.push({
      kind: "file",
      path,
      revisions: REVISIONS,
      ...(version === undefined ? {} : { version }),
      size: Number(stat.size),
      content: { file: join(this.#tree.root, path), isPinned: true },
    });
  }

  #skipFailed(path: string, error: unknown): void {
    throwIfOutOfFiles(error);
    if (!isGone(error)) this.#skip(path, "unreadable");
    // the name is not valid UTF-8; it was decoded with U+FFFD, and no file has the decoded name
    else if (path.includes("\ufffd")) this.#skip(path, "invalid-path");
  }

  #skip(path: string, reason: SkipReason): void {
    this.#batch.push({ kind: "skipped", path, revisions: REVISIONS, reason });
  }
}

export interface Child {
  /** The name, with '/' at its end for a folder. */
  readonly name: string;
  readonly kind: "file" | "folder" | "symlink" | "special";
}

export function childOf(dirent: Dirent): Child {
  if (dirent.isFile()) return { name: dirent.name, kind: "file" };
  if (dirent.isDirectory()) return { name: `${dirent.name}/`, kind: "folder" };
  return { name: dirent.name, kind: dirent.isSymbolicLink() ? "symlink" : "special" };
}

/**
 * Returns the text of a rule file, or "" if the file is missing, unreadable or a symlink. Throws SOURCE_UNREADABLE if
 * the file is too large.
 */
export function readRules(file: string): string {
  const limit = {
    most: MOST_RULE_BYTES,
    tooLarge: () => tooMany(file, `${MOST_RULE_BYTES} bytes`),
  };
  try {
    return (readNoFollow(file, limit)?.toString() ?? "").replace(/^\ufeff/, "");
  } catch (error) {
    if (error instanceof QuernError) throw error;
    throwIfOutOfFiles(error);
    return ""; // git also continues if it cannot read a rule file
  }
}

const MS = 1_000_000n;

/**
 * Returns the version of a file. Files with equal versions have equal content, because every write changes ctime,
 * even if mtime is restored afterwards. `now` is the time of the listing, in milliseconds. Returns undefined if the
 * file changed so shortly before `now` that another write could leave the same times. File systems round times to a
 * clock tick of up to 10 ms, and some round them to whole seconds.
 */
export function versionOf(
  stat: Pick<BigIntStats, "size" | "mtimeNs" | "ctimeNs" | "ino">,
  now: number,
): string | undefined {
  const { size, mtimeNs, ctimeNs, ino } = stat;
  const youngest = mtimeNs > ctimeNs ? mtimeNs : ctimeNs;
  const grain = youngest % (1000n * MS) === 0n ? 2000n : 10n; // ms
  if (youngest > (BigInt(now) - grain) * MS) return undefined;
  return `${size.toString(36)}-${mtimeNs.toString(36)}-${ctimeNs.toString(36)}-${ino.toString(36)}`;
}
