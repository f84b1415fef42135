/**
 * Lists the files of commits with git, as streams that take little memory. A list has all files of a commit
 * (`ls-tree`), or the changes between two commits (`diff-tree`). Several lists can be merged. If several revisions
 * have the same object at the same path, the merged list has one entry for it. git sorts paths by their bytes, so a
 * merge keeps only one batch of each list in memory.
 */

import { QuernError } from "../base/errors.ts";
import { type GitProcesses } from "./git-process.ts";
import { comparePaths, ownText } from "../base/paths.ts";

/** A path in a tree. */
export interface TreeRecord {
  readonly path: string;
  /** True if the path in the tree is valid UTF-8. If it is not, `path` contains replacement characters. */
  readonly isUtf8: boolean;
  /**
   * The mode in octal digits. 100644 and 100755 stand for files, 120000 for a symlink, 160000 for a submodule, and
   * 000000 for a path that no longer exists.
   */
  readonly mode: string;
  readonly id: string;
  /**
   * The size in bytes. Undefined if sizes were not requested, if the object is missing, or if it is neither a file
   * nor a symlink.
   */
  readonly size: number | undefined;
}

/**
 * The maximum number of files in one commit. A limit is needed, because a few trees that refer to each other many
 * times can have any number of files.
 */
const MOST_FILES = 5_000_000;

function tooManyFiles({ folder }: GitProcesses, most: number): QuernError {
  const message = `a commit of the repository ${folder} has more than ${most} files; its trees may name each other over and over`;
  return new QuernError("SOURCE_UNREADABLE", message);
}

/**
 * Lists all files of a commit, which is given by its full id. If `withSizes` is true, git reads each object to find
 * its size. So the listing fails if a partial clone lacks one of the objects.
 */
export async function* listTree(
  git: GitProcesses,
  commit: string,
  withSizes: boolean,
  mostFiles = MOST_FILES,
): AsyncGenerator<TreeRecord[]> {
  const options = ["-r", "-z", "--full-tree", ...(withSizes ? ["-l"] : [])];
  const args = ["ls-tree", ...options, "--end-of-options", commit];
  let listed = 0;
  for await (const batch of git.records(args)) {
    const records = recordsOf(batch).map(parseTreeLine);
    if ((listed += records.length) > mostFiles) throw tooManyFiles(git, mostFiles);
    yield records;
  }
}

interface Line {
  readonly text: string;
  readonly isUtf8: boolean;
}

/** Longer records are truncated. No record with an indexed path is that long. */
const LONG_RECORD = 8_192;

/**
 * Decodes the records of a batch. All of them are decoded together. If one may be invalid UTF-8, each record is then
 * checked separately.
 */
function recordsOf(batch: Buffer): Line[] {
  const text = batch.toString();
  let lines = text.split("\0").map((line) => ({ text: line, isUtf8: true }));
  if (lines.some((line) => line.text.length > LONG_RECORD))
    lines = lines.map((line) => ({ ...line, text: ownText(line.text.slice(0, LONG_RECORD)) }));
  if (!text.includes("\ufffd")) return lines;
  let start = 0;
  return lines.map((line) => {
    const end = batch.indexOf(0, start);
    const bytes = batch.subarray(start, end === -1 ? batch.length : end);
    start = end + 1;
    return { text: line.text, isUtf8: bytes.equals(Buffer.from(line.text)) };
  });
}

/**
 * Parses a line such as `100644 blob <id> <size>\t<path>`. The size is padded with blanks. It is `-` for objects
 * other than blobs, and `BAD` for a missing object. In a list without sizes, the tab follows the id.
 */
function parseTreeLine({ text, isUtf8 }: Line): TreeRecord {
  const tab = text.indexOf("\t");
  const idStart = text.indexOf(" ", 7) + 1;
  const space = text.indexOf(" ", idStart);
  const idEnd = space === -1 || space > tab ? tab : space;
  const size = idEnd === tab ? Number.NaN : Number(text.slice(idEnd, tab));
  return {
    path: text.slice(tab + 1),
    isUtf8,
    mode: text.slice(0, 6),
    id: text.slice(idStart, idEnd),
    size: Number.isNaN(size) ? undefined : size,
  };
}

/**
 * Resolves to the ids of the objects of these commits that a partial clone has not fetched. cat-file and ls-tree -l
 * fail on such an object. Resolves to undefined if the repository is not a partial clone.
 */
export async function missingObjects(
  git: GitProcesses,
  commits: readonly string[],
): Promise<ReadonlySet<string> | undefined> {
  const promisors = await git.run(["config", "--get-regexp", String.raw`^remote\..*\.promisor$`]);
  if (promisors.code !== 0) return undefined;
  const options = ["--objects", "--no-object-names", "--no-walk", "--missing=print"];
  const { stdout } = await git.run(["rev-list", ...options, "--end-of-options", ...commits, "--"]);
  const lines = stdout.split("\n").filter((line) => line.startsWith("?"));
  return new Set(lines.map((line) => line.slice(1)));
}

/**
 * Lists the paths at which two commits differ, with the objects of the second commit. Leaves out files that differ
 * only in their permissions.
 */
export async function* listChanges(
  git: GitProcesses,
  from: string,
  to: string,
  mostFiles = MOST_FILES,
): AsyncGenerator<TreeRecord[]> {
  const options = ["-r", "--raw", "-z", "--no-renames", "--no-abbrev", "--ignore-submodules=none"];
  const args = ["diff-tree", ...options, "--end-of-options", from, to, "--"];
  let listed = 0;
  let head: Line | undefined; // the first half of a record; both halves end with NUL
  for await (const batch of git.records(args)) {
    const records: TreeRecord[] = [];
    for (const line of recordsOf(batch)) {
      if (head === undefined) {
        head = line;
        continue;
      }
      const record = parseChange(head.text, line);
      if (record !== undefined) records.push(record);
      head = undefined;
    }
    if ((listed += records.length) > mostFiles) throw tooManyFiles(git, mostFiles);
    yield records;
  }
}

/**
 * Parses a record of diff-tree. `head` is `:<old mode> <mode> <old id> <id> <status>`, and the other line is the
 * path. Returns undefined if only the permissions of a file differ.
 */
function parseChange(head: string, { text, isUtf8 }: Line): TreeRecord | undefined {
  const [oldMode = "", mode = "", oldId = "", id = ""] = head.slice(1).split(" ");
  if (oldId === id && isFile(oldMode) && isFile(mode)) return undefined;
  return { path: text, isUtf8, mode, id, size: undefined };
}

export const isFile = (mode: string) => mode.startsWith("100");

/** An object at a path, with the revisions that have this object at this path. */
export interface MergedRecord extends TreeRecord {
  readonly revisions: readonly number[];
}

const MERGED_BATCH = 256;

/** Merges lists that are sorted by path. `revisions[i]` is the number of the revision that `lists[i]` belongs to. */
export async function* mergeTrees(
  lists: readonly AsyncIterator<readonly TreeRecord[]>[],
  revisions: readonly number[],
): AsyncGenerator<MergedRecord[]> {
  const cursors = await Promise.all(lists.map((list, i) => Cursor.open(list, revisions[i]!)));
  let live = cursors.filter((cursor) => cursor.record !== undefined);
  let batch: MergedRecord[] = [];
  while (live.length > 0) {
    const first = live.reduce((a, b) => (comparePaths(b.path, a.path) < 0 ? b : a)).path;
    const here = live.filter((cursor) => cursor.path === first);
    batch.push(...mergeSamePath(here));
    // most cursors stay within their batch, and need no promise
    const dry = here.filter((cursor) => !cursor.advance());
    if (dry.length > 0) {
      await Promise.all(dry.map((cursor) => cursor.refill()));
      live = live.filter((cursor) => cursor.record !== undefined);
    }
    if (batch.length < MERGED_BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Merges the current records of cursors that are at the same path. Returns one record for each object and mode. */
function mergeSamePath(cursors: readonly Cursor[]): MergedRecord[] {
  const merged: { record: TreeRecord; revisions: number[] }[] = [];
  for (const cursor of cursors) {
    const record = cursor.record!;
    const same = merged.find((other) => isSameEntry(other.record, record));
    if (same === undefined) merged.push({ record, revisions: [cursor.revision] });
    else same.revisions.push(cursor.revision);
  }
  return merged.map(({ record, revisions }) => ({ ...record, revisions }));
}

function isSameEntry(a: TreeRecord, b: TreeRecord): boolean {
  return (
    a.id === b.id &&
    a.isUtf8 === b.isUtf8 &&
    (a.mode === b.mode || (isFile(a.mode) && isFile(b.mode)))
  );
}

/** A position in one list. `record` is undefined at the end of the list. */
class Cursor {
  readonly revision: number;
  record: TreeRecord | undefined;
  readonly #list: AsyncIterator<readonly TreeRecord[]>;
  #batch: readonly TreeRecord[] = [];
  #at = 0;

  private constructor(list: AsyncIterator<readonly TreeRecord[]>, revision: number) {
    this.#list = list;
    this.revision = revision;
  }

  static async open(list: AsyncIterator<readonly TreeRecord[]>, revision: number): Promise<Cursor> {
    const cursor = new Cursor(list, revision);
    await cursor.refill();
    return cursor;
  }

  get path(): string {
    return this.record?.path ?? "";
  }

  /** Moves to the next record. Returns false at the end of the batch. In this case, the caller must call refill(). */
  advance(): boolean {
    this.record = this.#batch[++this.#at];
    return this.record !== undefined;
  }

  async refill(): Promise<void> {
    do {
      const next = await this.#list.next();
      if (next.done === true) return void (this.record = undefined);
      this.#batch = next.value;
    } while (this.#batch.length === 0);
    this.#at = 0;
    this.record = this.#batch[0];
  }
}
