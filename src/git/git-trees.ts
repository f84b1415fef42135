/**
 * Lists trees with git, as streams that take little memory: all files of a commit (`ls-tree`), the changes between
 * two commits (`diff-tree`), and the files of several commits merged. If an object has the same path in several
 * revisions, merging makes one entry of it. ls-tree sorts paths by their bytes, so the merge keeps only one batch of
 * each list in memory.
 */

import { QuernError } from "../base/errors.ts";
import { type GitProcesses } from "./git-process.ts";
import { comparePaths, ownText } from "../base/paths.ts";

/** A path in a tree. */
export interface TreeRecord {
  readonly path: string;
  /** Whether the path in the tree is UTF-8. If not, `path` contains replacement characters. */
  readonly isUtf8: boolean;
  /** Octal digits: 100644 and 100755 files, 120000 a symlink, 160000 a submodule, 000000 gone. */
  readonly mode: string;
  readonly id: string;
  /** The size in bytes. Undefined for a missing object, for anything but a file, and if sizes were not requested. */
  readonly size: number | undefined;
}

/**
 * The maximum number of files of one commit. A handful of trees that refer to each other repeatedly can have any number
 * of files.
 */
const MOST_FILES = 5_000_000;

function tooManyFiles({ folder }: GitProcesses, most: number): QuernError {
  const message = `a commit of the repository ${folder} has more than ${most} files; its trees may name each other over and over`;
  return new QuernError("SOURCE_UNREADABLE", message);
}

/**
 * Lists all files of a commit, given by its full id. To find sizes, git reads each object, so this fails if a partial
 * clone lacks one.
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

/** No record with an indexed path is as long as this. */
const LONG_RECORD = 8_192;

/** Decodes all records of a batch together. Only if one may not be UTF-8, decodes them one by one. */
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
 * Parses `100644 blob <id> <size>\t<path>`. The size is padded with blanks; it is `-` for objects other than blobs, and
 * `BAD` for a missing object. Without sizes the tab follows the id.
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
 * Resolves to the ids of those objects of the commits that a partial clone has not fetched. Resolves to undefined if
 * the repository is not a partial clone. cat-file and ls-tree -l fail on such an object.
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
 * Lists the paths that differ between two commits, as they are in the second. Leaves out files that differ only in
 * permissions.
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
  let head: Line | undefined; // both halves of a record end with a NUL
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

/** Parses `:<old mode> <mode> <old id> <id> <status>` and the path after it. */
function parseChange(head: string, { text, isUtf8 }: Line): TreeRecord | undefined {
  const [oldMode = "", mode = "", oldId = "", id = ""] = head.slice(1).split(" ");
  if (oldId === id && isFile(oldMode) && isFile(mode)) return undefined;
  return { path: text, isUtf8, mode, id, size: undefined };
}

export const isFile = (mode: string) => mode.startsWith("100");

/** A path, with the revisions in which it has this object. */
export interface MergedRecord extends TreeRecord {
  readonly revisions: readonly number[];
}

const MERGED_BATCH = 256;

/** Merges lists that are sorted by path. `revisions[i]` is the revision of `lists[i]`. */
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
    // most steps stay within a batch and need no promise
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

/** Returns one record for each object and mode among the records with the same path. */
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

/** Walks one list. `record` is undefined at the end. */
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

  /** Moves to the next record. Returns false at the end of the batch; the caller must then call refill(). */
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
