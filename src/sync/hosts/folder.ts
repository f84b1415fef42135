/**
 * Lists the clones in a folder that another program maintains, such as a mirror script. A folder is a clone if it is
 * a work tree or a bare repository. Any other folder is searched for clones, up to a maximum depth and a maximum
 * number of folders. Symbolic links are not followed.
 */

import { lstat, opendir, realpath } from "node:fs/promises";
import { basename, join, relative, resolve, sep } from "node:path";
import { throwIfAborted } from "../../base/abort.ts";
import { isGone, noFolder, unreadableFolder } from "../../base/folder-errors.ts";
import { QuernError } from "../../base/errors.ts";
import { readRemote } from "../../git/remote-name.ts";
import { DEFAULTS } from "../config/config.ts";
import type { Found } from "./found.ts";
import { part, type Host } from "./host.ts";

/**
 * The maximum number of folders that are searched. If somebody configures a whole disk by mistake, the search ends
 * soon.
 */
const MOST_FOLDERS = 200_000;

export const folder: Host<"folder"> = {
  codeHostType: "genericGitHost",
  api: () => undefined,
  headers: () => ({}),
  gitUser: () => "",
  list: ({ path, depth = DEFAULTS.depth }, { signal }) =>
    part(`path: ${path}`, clonesIn(resolve(path), depth, signal)),
};

async function* clonesIn(root: string, depth: number, signal: AbortSignal): AsyncGenerator<Found> {
  const real = await realpath(root).catch((cause: unknown) => {
    throw isGone(cause) ? noFolder(root, cause) : unreadableFolder(root, cause);
  });
  let level = [real];
  let seen = 0;
  for (let down = 0; level.length > 0 && down <= depth; down++) {
    const below: string[] = [];
    for (const path of level) {
      throwIfAborted(signal);
      if (++seen > MOST_FOLDERS) throw tooMany(root);
      if (await isRepository(path)) yield await describe(real, path, signal);
      else if (down < depth) below.push(...(await foldersIn(path, path === real)));
    }
    level = below;
  }
}

/**
 * Lists the folders inside a folder, sorted by name. If the folder cannot be read, resolves to an empty list. Rejects
 * instead if the folder is the one in the configuration (`isRoot`).
 */
async function foldersIn(path: string, isRoot: boolean): Promise<string[]> {
  const found: string[] = [];
  try {
    for await (const entry of await opendir(path)) if (entry.isDirectory()) found.push(entry.name);
  } catch (cause) {
    if (isRoot) throw unreadableFolder(path, cause);
  }
  return found.sort().map((name) => join(path, name));
}

async function isRepository(path: string): Promise<boolean> {
  const has = async (name: string) =>
    (await lstat(join(path, name)).catch(() => undefined)) !== undefined;
  return (await has(".git")) || ((await has("HEAD")) && (await has("objects")) && has("refs"));
}

async function describe(root: string, path: string, signal: AbortSignal): Promise<Found> {
  const remote = await readRemote(path, signal);
  const own = relative(root, path).split(sep).join("/") || basename(path);
  const name = remote ?? own.replace(/\.git$/, "");
  const slash = remote === undefined ? -1 : name.indexOf("/");
  return {
    kind: "repository",
    id: own,
    path: name.slice(slash + 1),
    host: name.slice(0, Math.max(0, slash)),
    place: { kind: "folder", path },
  };
}

function tooMany(root: string): QuernError {
  const message = `${root} has more than ${MOST_FOLDERS} folders; give a folder that contains clones`;
  return new QuernError("SOURCE_UNREADABLE", message);
}
