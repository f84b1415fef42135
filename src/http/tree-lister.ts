/**
 * Lists folders as trees show them. An indexed revision is read from the index, with the symbolic links and
 * submodules that it has only listed; any other revision from git.
 */

import { compareText } from "../base/compare.ts";
import { pathTrie, type PathTrie } from "../base/path-trie.ts";
import { newPause } from "../base/yield.ts";
import type { HistoryEntry } from "../history/history.ts";
import type { RepositorySummary } from "../repositories.ts";
import type { Repository } from "../repository.ts";
import type { PathEntry } from "./history-schemas.ts";
import { historyIfAny, indexedRevision } from "./revisions.ts";
import { viewerOption, type Call } from "./route.ts";

/**
 * Returns the content of a folder, folders first, each group by name. Resolves to undefined if there is no
 * such folder.
 */
export type Lister = (path: string) => Promise<readonly HistoryEntry[] | undefined>;

export interface Wanted {
  readonly repository: RepositorySummary;
  /** Undefined for the default revision. */
  readonly revision: string | undefined;
  /** The folders that will be listed, and those above them. */
  readonly paths: readonly string[];
}

/** The longest path of a folder. A path of half a million parts takes a tenth of a second to look up. */
const MOST_PATH = 4_096;
const canBe = ({ length }: string): boolean => length <= MOST_PATH;

/** Resolves to undefined if there is no such revision. */
export async function openLister(call: Call, wanted: Wanted): Promise<Lister | undefined> {
  const { repository, revision, paths } = wanted;
  const indexed = indexedRevision(repository, revision);
  if (indexed !== undefined) return indexLister(call, repository.name, indexed.name);
  const history = await historyIfAny(call, repository.name);
  const { signal } = call.request;
  const folders = await history?.folders({
    paths,
    signal,
    ...(revision !== undefined && { revision }),
  });
  return folders && (async (path) => folders.get(path)?.toSorted(foldersFirst));
}

async function indexLister(call: Call, repository: string, revision: string): Promise<Lister> {
  const known = await call.engine.repository(repository, viewerOption(call));
  const unlisted = unlistedEntries(known?.skipped ?? [], revision);
  return async (path) => {
    const folder = { repository, path, revision };
    const held = await call.engine.list(folder, viewerOption(call));
    const others = unlisted.get(path);
    if (others === undefined) return held;
    const names = new Set(held?.map(({ name }) => name));
    const added = [...others.values()].filter(({ name }) => !names.has(name));
    return [...(held ?? []), ...added].toSorted(foldersFirst);
  };
}

/** The symbolic links and submodules of a revision by folder, and the folders that lead to them. */
function unlistedEntries(
  skipped: Repository["skipped"],
  revision: string,
): Map<string, Map<string, HistoryEntry>> {
  const folders = new Map<string, Map<string, HistoryEntry>>();
  const add = (entry: HistoryEntry): void => {
    const above = folderOf(entry.path);
    const known = folders.get(above);
    folders.set(above, (known ?? new Map<string, HistoryEntry>()).set(entry.name, entry));
    if (known === undefined && above !== "") add(entryAt("folder", above));
  };
  for (const { path, reason, revision: of } of skipped)
    if (of === revision && (reason === "symlink" || reason === "submodule"))
      add(entryAt(reason, path));
  return folders;
}

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));

const entryAt = (type: HistoryEntry["type"], path: string): HistoryEntry => ({
  type,
  path,
  name: path.slice(path.lastIndexOf("/") + 1),
});

function foldersFirst(a: HistoryEntry, b: HistoryEntry): number {
  const [left, right] = [a.type === "folder", b.type === "folder"];
  if (left !== right) return left ? -1 : 1;
  return compareText(a.name, b.name);
}

/** The types as the interface names them. */
export function pathEntry({ type, path, name }: HistoryEntry): PathEntry {
  switch (type) {
    case "folder":
      return { type: "tree", path, name };
    case "submodule":
      return { type: "commit", path, name };
    case "file":
    case "symlink":
      return { type: "blob", path, name };
  }
}

export interface TreeNode extends PathEntry {
  children: TreeNode[];
}

/** Returns the root with the wanted folders opened. Paths that are no folders open nothing. */
export async function openTree(list: Lister, paths: readonly string[]): Promise<TreeNode> {
  const pause = newPause();
  const open = async (path: string, wanted: PathTrie): Promise<TreeNode[]> => {
    const children: TreeNode[] = [];
    for (const entry of (await list(path)) ?? []) {
      const below = entry.type === "folder" ? wanted.get(entry.name) : undefined;
      children.push({
        ...pathEntry(entry),
        children: below === undefined ? [] : await open(entry.path, below),
      });
      await pause();
    }
    return children;
  };
  return {
    type: "tree",
    path: "",
    name: "root",
    children: await open("", await pathTrie(paths.filter(canBe), pause)),
  };
}

/** Returns all paths of a revision in the order of folders. */
export async function listAll(list: Lister): Promise<PathEntry[]> {
  const pause = newPause();
  const all: PathEntry[] = [];
  const open = async (path: string): Promise<void> => {
    for (const entry of (await list(path)) ?? []) {
      if (entry.type === "folder") await open(entry.path);
      else all.push(pathEntry(entry));
      await pause();
    }
  };
  await open("");
  return all;
}
