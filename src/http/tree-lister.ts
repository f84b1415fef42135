/**
 * Lists folders for the routes that return folders and trees. An indexed revision is read from the index. Its
 * symbolic links and submodules come from the list of skipped files in the index. Any other revision is read from
 * git.
 */

import { firstIndex } from "../base/binary-search.ts";
import { coreOf } from "../core-of.ts";
import { compareText } from "../base/compare.ts";
import { pathTrie, type PathTrie } from "../base/path-trie.ts";
import { sortInSlices } from "../base/sort.ts";
import { newPause, type Pause } from "../base/yield.ts";
import type { HistoryEntry } from "../history/history.ts";
import type { RepositorySummary } from "../repositories.ts";
import type { Repository } from "../repository.ts";
import type { PathEntry } from "./history-schemas.ts";
import { Refusal } from "./refusal.ts";
import { historyIfAny, indexedRevision } from "./revisions.ts";
import { viewerOption, type Call } from "./route.ts";

/**
 * Resolves to the entries of a folder. Folders come before other entries, and both groups are sorted by name.
 * Resolves to undefined if there is no such folder.
 */
export type Lister = (path: string) => Promise<readonly HistoryEntry[] | undefined>;

export interface Wanted {
  readonly repository: RepositorySummary;
  /** The revision. Undefined stands for the default revision. */
  readonly revision: string | undefined;
  /** The folders to list. Their parents can be listed, too. */
  readonly paths: readonly string[];
}

/**
 * The maximum number of characters in the path of a folder. Looking up a path of half a million parts would take a
 * tenth of a second.
 */
const MOST_PATH = 4_096;
const canBe = ({ length }: string): boolean => length <= MOST_PATH;

/** Resolves to a function that lists folders of a revision, or to undefined if the revision does not exist. */
export async function openLister(call: Call, wanted: Wanted): Promise<Lister | undefined> {
  const { repository, revision, paths } = wanted;
  const indexed = indexedRevision(repository, revision);
  if (indexed !== undefined)
    return indexLister(call, { repository: repository.name, revision: indexed.name }, paths);
  const history = await historyIfAny(call, repository.name);
  const { signal } = call.request;
  const folders = await history?.folders({
    paths,
    signal,
    ...(revision !== undefined && { revision }),
  });
  return folders && (async (path) => folders.get(path)?.toSorted(foldersFirst));
}

interface Indexed {
  readonly repository: string;
  readonly revision: string;
}

async function indexLister(
  call: Call,
  indexed: Indexed,
  paths: readonly string[],
): Promise<Lister> {
  const { repository, revision } = indexed;
  const pause = newPause({ signal: call.request.signal });
  const known = await call.engine.repository(repository, viewerOption(call));
  const unlisted = unlistedEntries(known?.skipped ?? [], revision);
  const folders = await foldersAtOnce(call, indexed, { paths: paths.filter(canBe), pause });
  const listed: Lister = folders
    ? async (path) => folders.get(path)
    : (path) => call.engine.list({ repository, path, revision }, viewerOption(call));
  return async (path) => {
    const held = await listed(path);
    const others = unlisted.get(path);
    if (others === undefined) return held;
    const names = new Set(held?.map(({ name }) => name));
    const added = [...others.values()].filter(({ name }) => !names.has(name));
    return sortInSlices([...(held ?? []), ...added], foldersFirst, pause);
  };
}

/**
 * The maximum number of folders, including parents, that are listed one by one. Each listing reads the paths of all
 * files, which takes 3 ms for 80 000 files.
 */
const FEW_FOLDERS = 16;

/**
 * Resolves to the entries of the folders in `paths` and of their parents, by folder. They come from a single list of
 * all files. Resolves to undefined if there are only a few folders.
 */
async function foldersAtOnce(
  call: Call,
  indexed: Indexed,
  { paths, pause }: { readonly paths: readonly string[]; readonly pause: Pause },
): Promise<ReadonlyMap<string, readonly HistoryEntry[]> | undefined> {
  const isFew = paths.reduce((parts, path) => parts + path.split("/").length, 0) <= FEW_FOLDERS;
  if (isFew) return undefined;
  const files = (await coreOf(call.engine).view(viewerOption(call)).paths(indexed)) ?? [];
  const found = await childrenOf(files, await pathTrie(paths, pause), pause);
  const folders = new Map<string, readonly HistoryEntry[]>();
  for (const [folder, entries] of found)
    folders.set(folder, await sortInSlices([...entries.values()], foldersFirst, pause));
  return folders;
}

/**
 * Collects the entries of the wanted folders, by folder and then by name. If a folder and a file have the same name,
 * only the folder is kept.
 */
async function childrenOf(
  files: readonly string[],
  wanted: PathTrie,
  pause: Pause,
): Promise<Map<string, Map<string, HistoryEntry>>> {
  const [length, found] = [newLength(), new Map<string, Map<string, HistoryEntry>>()];
  const nodes = new Map<PathTrie, Map<string, HistoryEntry>>();
  const entriesOf = (node: PathTrie, folder: string) => {
    const known = nodes.get(node);
    if (known) return known;
    length.add(folder);
    const made = new Map<string, HistoryEntry>();
    nodes.set(node, made);
    found.set(folder, made);
    return made;
  };
  entriesOf(wanted, "");
  for (const file of files) {
    let node: PathTrie | undefined = wanted;
    for (let from = 0; node !== undefined;) {
      await pause();
      const entries = entriesOf(node, file.slice(0, Math.max(0, from - 1)));
      const slash = file.indexOf("/", from);
      const name = file.slice(from, slash < 0 ? undefined : slash);
      const known = entries.get(name)?.type;
      if (slash < 0) {
        if (known === undefined) entries.set(name, { type: "file", path: file, name });
        break;
      }
      if (known !== "folder")
        entries.set(name, { type: "folder", path: file.slice(0, slash), name });
      node = node.get(name);
      from = slash + 1;
    }
  }
  return found;
}

/**
 * The maximum number of characters of all paths in a tree. The 80 000 files of a real repository have 4 million. A
 * request of one megabyte can name 250 folders that each have a thousand levels. Their paths would have 250 million
 * characters.
 */
const MOST_TREE = 32 * 2 ** 20;

/** Counts the characters of a tree's paths. add() throws a refusal if there are more than MOST_TREE. */
function newLength(): { add(path: string): void } {
  let characters = 0;
  return {
    add(path) {
      characters += path.length;
      if (characters <= MOST_TREE) return;
      const message = `the paths in these folders have more than ${MOST_TREE} characters; ask for fewer folders`;
      throw new Refusal("INVALID_REQUEST_BODY", message);
    },
  };
}

/**
 * Returns the symbolic links and submodules of a revision, and all of their parent folders. The entries are grouped
 * by folder and then by name.
 */
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

/** Converts an entry to the form of the HTTP interface, which has other names for the types. */
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

/**
 * Returns the tree of a revision. It contains the entries of the root, of the requested folders, and of their
 * parents. Paths that are not folders are ignored. Throws a refusal if all paths in the tree together have more than
 * MOST_TREE characters.
 */
export async function openTree(
  list: Lister,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<TreeNode> {
  const pause = newPause({ signal });
  const length = newLength();
  const open = async (path: string, wanted: PathTrie): Promise<TreeNode[]> => {
    const children: TreeNode[] = [];
    for (const entry of (await list(path)) ?? []) {
      length.add(entry.path);
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

/**
 * Resolves to all paths of an indexed revision, in the order of inOrderOfFolders(), or to undefined if the revision
 * does not exist.
 */
export async function listAll(
  call: Call,
  repository: string,
  revision: string,
): Promise<PathEntry[] | undefined> {
  const options = viewerOption(call);
  const files = await coreOf(call.engine).view(options).paths({ repository, revision });
  const known = await call.engine.repository(repository, options);
  const others = (known?.skipped ?? []).flatMap(({ path, reason, revision: of }) =>
    of === revision && (reason === "symlink" || reason === "submodule")
      ? [entryAt(reason, path)]
      : [],
  );
  if (files === undefined) return undefined;
  const entries = [...files.map((path) => entryAt("file", path)), ...others];
  return (await inOrderOfFolders(entries, call.request.signal)).map(pathEntry);
}

/**
 * Sorts entries in the order in which a listing folder by folder finds them. If several entries have the same path,
 * only the first is kept. A file with the same path as a folder is left out.
 */
async function inOrderOfFolders(
  entries: readonly HistoryEntry[],
  signal: AbortSignal,
): Promise<HistoryEntry[]> {
  const pause = newPause({ signal });
  const byPath = await sortInSlices(entries, (a, b) => compareText(a.path, b.path), pause);
  const kept: HistoryEntry[] = [];
  for (const [at, entry] of byPath.entries()) {
    if (at % ENTRIES_PER_PAUSE === 0) await pause();
    const below = `${entry.path}/`;
    const next = byPath[firstIndex(at, byPath.length, (i) => byPath[i]!.path >= below)];
    const isHidden = next?.path.startsWith(below) === true || byPath[at - 1]?.path === entry.path;
    if (!isHidden) kept.push(entry);
  }
  return sortInSlices(kept, (a, b) => compareInFolders(a.path, b.path), pause);
}

const ENTRIES_PER_PAUSE = 64;

/**
 * Compares paths at their first difference. There, a folder comes before a file, and two folders or two files are
 * sorted by name.
 */
function compareInFolders(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  const start = at === 0 ? 0 : a.lastIndexOf("/", at - 1) + 1;
  const [endOfA, endOfB] = [a.indexOf("/", at), b.indexOf("/", at)];
  if (endOfA < 0 !== endOfB < 0) return endOfA < 0 ? 1 : -1;
  const nameIn = (path: string, end: number) => path.slice(start, end < 0 ? undefined : end);
  return compareText(nameIn(a, endOfA), nameIn(b, endOfB));
}
