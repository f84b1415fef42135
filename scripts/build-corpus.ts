/**
 * Builds real git repositories from corpus/: `npx tsx scripts/build-corpus.ts TARGET`.
 *
 * A folder of the corpus is the work tree of its repository's branch `main`. Most have one commit. If
 * corpus/.revisions/NAME.json exists, it has the history, oldest commit first. It says how the tree of each commit
 * differs from the folder (not from its parent, so that each entry can be read by itself):
 *
 *   absent   paths that are not there yet, or no longer
 *   renamed  path in the folder → path in this commit; everything else names paths of the folder
 *   edits    path → [text in the folder, text in this commit]…; each text occurs exactly once
 *   added    path → lines of a file that the folder does not have; the last line has no newline
 *
 * `parents`, `branches` and `tags` name commits by `key`. Names, dates and trees are fixed, so the commit ids are the
 * same on every machine. Each repository takes one `git fast-import`, about 30 ms.
 */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, stat } from "node:fs/promises";
import { devNull } from "node:os";
import { join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

export const CORPUS = fileURLToPath(new URL("../corpus", import.meta.url));

/** Folders of the corpus that are not repositories. */
const OTHERS = new Set(["golden", "languages"]);

export interface BuiltRepository {
  readonly name: string;
  readonly path: string;
  /** Branches, `main` first, then tags. */
  readonly revisions: string[];
}

interface History {
  readonly commits: readonly Commit[];
  readonly branches: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
}

interface Commit {
  readonly key: string;
  readonly parents?: readonly string[];
  readonly date: string;
  readonly message: string;
  readonly absent?: readonly string[];
  readonly renamed?: Readonly<Record<string, string>>;
  readonly edits?: Readonly<Record<string, readonly (readonly [string, string])[]>>;
  readonly added?: Readonly<Record<string, readonly string[]>>;
}

interface File {
  readonly mode: "100644" | "100755";
  readonly content: Buffer;
}

/** The files by path, with '/' between folders. */
type Tree = ReadonlyMap<string, File>;

const SINGLE_COMMIT: History = {
  commits: [{ key: "all", date: "2024-05-01T12:00:00Z", message: "Everything" }],
  branches: { main: "all" },
  tags: {},
};

/** Resolves to the names of the corpus's repositories, sorted. */
export async function repositoryNames(): Promise<string[]> {
  const entries = await readdir(CORPUS, { withFileTypes: true });
  return entries
    .filter(({ name }) => !name.startsWith(".") && !OTHERS.has(name))
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}

/** Builds all repositories. REQUIRES: `target` contains none of them yet, because a built one is never overwritten. */
export async function buildCorpus(target: string): Promise<BuiltRepository[]> {
  const built: BuiltRepository[] = [];
  for (const name of await repositoryNames()) built.push(await buildRepository(target, name));
  return built;
}

/** Builds one repository. Most tests need no other, and each takes three processes of git. */
export async function buildRepository(target: string, name: string): Promise<BuiltRepository> {
  const path = join(target, name);
  if (existsSync(path)) throw new Error(`${path} is already there`);
  const history = await readHistory(name);
  const folder = await readTree(join(CORPUS, name));
  await mkdir(path, { recursive: true });
  await git(path, ["init", "--quiet", "--initial-branch=main", "--object-format=sha1"]);
  await git(path, ["fast-import", "--quiet"], importStream(history, folder));
  await git(path, ["checkout", "--quiet", "--force", "main"]);
  return {
    name,
    path,
    revisions: [...Object.keys(history.branches), ...Object.keys(history.tags)],
  };
}

async function readHistory(name: string): Promise<History> {
  const path = join(CORPUS, ".revisions", `${name}.json`);
  return existsSync(path) ? (JSON.parse(await readFile(path, "utf8")) as History) : SINGLE_COMMIT;
}

export async function readTree(folder: string): Promise<Tree> {
  const tree = new Map<string, File>();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((e) => e.isFile())) {
    const path = join(entry.parentPath, entry.name);
    const executable = ((await stat(path)).mode & 0o100) !== 0;
    const mode = executable ? "100755" : "100644";
    const name = relative(folder, path).split(sep).join("/");
    tree.set(name, { mode, content: await readFile(path) });
  }
  return tree;
}

/** Returns the tree of a commit, made from that of the folder. */
function treeOf(commit: Commit, folder: Tree): Tree {
  const tree = new Map<string, File>();
  const { absent = [], renamed = {}, edits = {}, added = {} } = commit;
  for (const path of [...absent, ...Object.keys(renamed), ...Object.keys(edits)])
    if (!folder.has(path)) throw new Error(`${commit.key}: no ${path} in the folder`);
  for (const [path, file] of folder) {
    if (absent.includes(path)) continue;
    tree.set(renamed[path] ?? path, { ...file, content: edit(file.content, edits[path] ?? []) });
  }
  for (const [path, lines] of Object.entries(added))
    tree.set(path, { mode: "100644", content: Buffer.from(lines.join("\n")) });
  return tree;
}

function edit(content: Buffer, edits: readonly (readonly [string, string])[]): Buffer {
  if (edits.length === 0) return content;
  let text = content.toString("utf8");
  for (const [from, to] of edits) {
    const parts = text.split(from);
    if (parts.length !== 2) throw new Error(`${parts.length - 1} times there: ${from}`);
    text = parts.join(to);
  }
  return Buffer.from(text);
}

/** Returns the input of `git fast-import`, in which each commit lists its whole tree. */
function importStream(history: History, folder: Tree): Buffer {
  const marks = new Map(history.commits.map((commit, i) => [commit.key, `:${i + 1}`]));
  const markOf = (key: string): string => {
    const mark = marks.get(key);
    if (mark === undefined) throw new Error(`no commit ${key}`);
    return mark;
  };
  const parts: (string | Buffer)[] = [];
  for (const commit of history.commits) {
    const who = `Ada Quern <ada@example.org> ${Date.parse(commit.date) / 1000} +0000`;
    const [first, ...others] = commit.parents ?? [];
    parts.push(`commit refs/heads/main\nmark ${markOf(commit.key)}\n`);
    parts.push(`author ${who}\ncommitter ${who}\n`, ...data(Buffer.from(`${commit.message}\n`)));
    if (first !== undefined) parts.push(`from ${markOf(first)}\n`);
    for (const other of others) parts.push(`merge ${markOf(other)}\n`);
    parts.push("deleteall\n");
    for (const [path, { mode, content }] of treeOf(commit, folder))
      parts.push(`M ${mode} inline ${path}\n`, ...data(content));
  }
  const refs = [
    ...Object.entries(history.branches).map(([name, key]) => [`refs/heads/${name}`, key] as const),
    ...Object.entries(history.tags).map(([name, key]) => [`refs/tags/${name}`, key] as const),
  ];
  for (const [ref, key] of refs) parts.push(`reset ${ref}\nfrom ${markOf(key)}\n\n`);
  return Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
}

const data = (bytes: Buffer): (string | Buffer)[] => [`data ${bytes.length}\n`, bytes, "\n"];

/** Returns an environment without the user's configuration, hooks and GIT_ variables, which could change the ids. */
function environment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"));
  return { ...Object.fromEntries(own), GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: "1" };
}

function git(folder: string, args: readonly string[], input?: Buffer): Promise<void> {
  return new Promise((done, failed) => {
    const child = spawn("git", args, {
      cwd: folder,
      env: environment(),
      stdio: ["pipe", "ignore", "pipe"],
    });
    let complaint = "";
    child.stderr.on("data", (chunk: Buffer) => (complaint += chunk.toString()));
    child.stdin.on("error", () => {}); // git ended early; its error message says why
    child.on("error", failed);
    child.on("close", (code) =>
      code === 0 ? done() : failed(new Error(`git ${args[0]} in ${folder}: ${complaint}`)),
    );
    child.stdin.end(input);
  });
}

const [, script, target] = process.argv;
if (script !== undefined && resolve(script) === fileURLToPath(import.meta.url)) {
  if (target === undefined) throw new Error("usage: build-corpus TARGET");
  for (const { path, revisions } of await buildCorpus(target))
    console.log(`${path}: ${revisions.join(", ")}`);
}
