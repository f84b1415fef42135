/**
 * Reads the files and folders of a commit from its tree objects. One git process reads all tree objects that a call
 * needs.
 *
 * A tree object is a list of entries. An entry has the mode in octal digits, a blank, the name, a NUL, and the bytes
 * of the id.
 */

import type { PathTrie } from "../base/path-trie.ts";
import { isValidPath, printablePath } from "../base/paths.ts";
import type { Pause } from "../base/yield.ts";
import { listTree } from "../git/git-trees.ts";
import type { HistoryEntry } from "./history.ts";
import type { Operation } from "./operation.ts";

interface TreeEntry {
  readonly type: HistoryEntry["type"];
  readonly name: string;
  readonly id: string;
  /**
   * True if the name is valid UTF-8. If it is not, `name` contains replacement characters, and the entry cannot be
   * found by its path.
   */
  readonly isUtf8: boolean;
}

const LF = 10;
const BLANK = 32;
const ENTRIES_PER_PAUSE = 256;

async function readTree(
  { objects }: Operation,
  id: string,
  pause: Pause,
): Promise<TreeEntry[] | undefined> {
  const object = await objects.read(id);
  if (object === undefined || object.type !== "tree") return undefined;
  const bytes = Buffer.from(object.content.buffer);
  const idBytes = object.id.length / 2;
  const entries: TreeEntry[] = [];
  for (let at = 0; at < bytes.length;) {
    const blank = bytes.indexOf(BLANK, at);
    const end = bytes.indexOf(0, blank);
    const mode = bytes.toString("latin1", at, blank);
    const name = bytes.toString("utf8", blank + 1, end);
    const isUtf8 =
      !name.includes("\ufffd") || bytes.subarray(blank + 1, end).equals(Buffer.from(name));
    at = end + 1 + idBytes;
    entries.push({ type: typeOf(mode), name, isUtf8, id: bytes.toString("hex", end + 1, at) });
    if (entries.length % ENTRIES_PER_PAUSE === 0) await pause();
  }
  return entries;
}

function typeOf(mode: string): HistoryEntry["type"] {
  if (mode === "40000" || mode === "040000") return "folder";
  if (mode === "120000") return "symlink";
  return mode === "160000" ? "submodule" : "file";
}

/** Resolves to the entry at a path in a commit, or to undefined if there is none. */
export async function findEntry(
  operation: Operation,
  { commit, path }: { commit: string; path: string },
  pause: Pause,
): Promise<Pick<TreeEntry, "type" | "id"> | undefined> {
  if (!isValidPath(path)) return undefined;
  let tree: string | undefined = await rootOf(operation, commit);
  const parts = path.split("/");
  for (const [i, part] of parts.entries()) {
    const entries = tree === undefined ? undefined : await readTree(operation, tree, pause);
    const entry = entries?.find(({ name, isUtf8 }) => name === part && isUtf8);
    if (entry === undefined || i === parts.length - 1) return entry;
    tree = entry.type === "folder" ? entry.id : undefined;
  }
  return undefined;
}

/** Resolves to the id of a commit's root tree. The first line of a commit object contains this id. */
async function rootOf({ objects }: Operation, commit: string): Promise<string | undefined> {
  const object = await objects.read(commit);
  const line = object && Buffer.from(object.content.buffer, 0, object.content.indexOf(LF));
  return /^tree ([0-9a-f]{40,64})$/.exec(line?.toString("latin1") ?? "")?.[1];
}

/**
 * Lists the entries of folders in a commit. These are the root and all folders on the way to the given paths,
 * including those at the paths themselves.
 */
export async function listFolders(
  operation: Operation,
  { commit, paths }: { commit: string; paths: PathTrie },
  pause: Pause,
): Promise<Map<string, HistoryEntry[]>> {
  const folders = new Map<string, HistoryEntry[]>();
  const open = async (id: string, path: string, wanted: PathTrie): Promise<void> => {
    const entries = await readTree(operation, id, pause);
    if (entries === undefined) return;
    const within = (name: string): string => (path === "" ? name : `${path}/${name}`);
    folders.set(
      path,
      entries.map(({ type, name }) => entryAt(type, within(name))),
    );
    for (const { type, name, isUtf8, id: below } of entries) {
      const next = type === "folder" && isUtf8 ? wanted.get(name) : undefined;
      if (next !== undefined) await open(below, within(name), next);
    }
  };
  const root = await rootOf(operation, commit);
  if (root !== undefined) await open(root, "", paths);
  return folders;
}

/** Lists all files, symbolic links and submodules of a commit, in the byte order of their paths. */
export async function listPaths(
  operation: Operation,
  commit: string,
  pause: Pause,
): Promise<HistoryEntry[]> {
  const entries: HistoryEntry[] = [];
  for await (const batch of listTree(operation.git, commit, false))
    for (const { path, mode } of batch) {
      entries.push(entryAt(typeOf(mode), path));
      if (entries.length % ENTRIES_PER_PAUSE === 0) await pause();
    }
  return entries;
}

function entryAt(type: HistoryEntry["type"], path: string): HistoryEntry {
  const shown = isValidPath(path) ? path : printablePath(path);
  return { type, name: shown.slice(shown.lastIndexOf("/") + 1), path: shown };
}
