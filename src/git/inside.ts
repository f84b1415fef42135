/**
 * Whether a repository keeps to its own folder. git follows whatever a repository says of where its
 * parts are: a `.git` that is a link or names another folder, links among its files, alternates, a
 * common folder, configuration that includes files. One that a stranger has made could so be read in
 * the place of another. Here all of that is looked for before git is asked anything.
 *
 * Cost: a look at each entry of `.git`, some 10 µs. What is changed after the look is not seen.
 */

import { lstat, opendir, readFile, realpath } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { QuernError } from "../base/errors.ts";
import { Slice } from "../base/yield.ts";

/** Entries of a `.git`: one with more must be packed first. */
const MOST_ENTRIES = 1_000_000;

/** Rejects with SOURCE_UNREADABLE where something leads out of the folder. A folder that is no repository is for git to refuse. */
export async function mustStayInside(folder: string, signal: AbortSignal): Promise<void> {
  const root = await realpath(folder);
  const own = join(root, ".git");
  const found = await lstat(own).catch(() => undefined);
  if (found && !found.isDirectory()) throw leadsOut(root, ".git");
  const gitDir = found ? own : root;
  await mustHoldNoLinks(root, gitDir, new Slice({ signal }));
  for (const name of ["commondir", "objects/info/alternates", "objects/info/http-alternates"])
    if ((await textOf(join(gitDir, name))).trim() !== "") throw leadsOut(root, name);
  for (const name of ["config", "config.worktree"])
    if (/^[^#;\n]*\[\s*include/im.test(await textOf(join(gitDir, name))))
      throw leadsOut(root, `${name}, which includes another file,`);
}

async function mustHoldNoLinks(root: string, gitDir: string, slice: Slice): Promise<void> {
  const folders = [gitDir];
  let entries = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for await (const entry of await opendir(folder)) {
      const path = join(folder, entry.name);
      if (entry.isSymbolicLink()) {
        const target = await realpath(path).catch(() => undefined);
        if (!target || !isInside(target, gitDir)) throw leadsOut(root, relative(root, path));
      } else if (entry.isDirectory()) folders.push(path);
      if (++entries > MOST_ENTRIES) throw tooMany(root);
      if (slice.isOver) await slice.rest();
    }
  }
}

const isInside = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder + sep);

const MOST_BYTES = 1 << 20;

/** '' where there is no such file. */
async function textOf(path: string): Promise<string> {
  const stat = await lstat(path).catch(() => undefined);
  if (!stat?.isFile()) return "";
  if (stat.size > MOST_BYTES)
    throw new QuernError("SOURCE_UNREADABLE", `${path} is larger than ${MOST_BYTES} bytes`);
  return readFile(path, "utf8");
}

function leadsOut(folder: string, what: string): QuernError {
  const message = `${what} of the repository ${folder} leads out of the folder, and the source says trusted: false; leave that out if you trust who made the repository`;
  return new QuernError("SOURCE_UNREADABLE", message);
}

function tooMany(folder: string): QuernError {
  const message = `the repository ${folder} holds more than ${MOST_ENTRIES} files; git gc packs them`;
  return new QuernError("SOURCE_UNREADABLE", message);
}
