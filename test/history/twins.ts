/**
 * The slow twins of history: they ask git by other commands than the engine does, and read the output in the plainest
 * way.
 */

import { execFileSync } from "node:child_process";
import type { Author, Blame, Commit, FileDiff } from "../../src/index.ts";

/** Returns git's output, in the locale in which the engine runs it. */
export function git(folder: string, ...args: string[]): Buffer {
  const env = { ...process.env, LC_ALL: "C.UTF-8", GIT_PAGER: "cat", TZ: "UTC" };
  const stdio = ["ignore", "pipe", "pipe"] as const;
  return execFileSync("git", ["-C", folder, ...args], {
    env,
    maxBuffer: 2 ** 28,
    stdio: [...stdio],
  });
}

const said = (folder: string, ...args: string[]): string => git(folder, ...args).toString();

export interface LogFilters {
  path?: string;
  author?: string;
  query?: string;
  since?: string;
  until?: string;
}

export function logArguments({ path, author, query, since, until }: LogFilters): {
  before: string[];
  after: string[];
} {
  const before = [
    ...(author === undefined ? [] : [`--author=${author}`]),
    ...(query === undefined ? [] : [`--grep=${query}`]),
    ...(since === undefined ? [] : [`--since=${since}`]),
    ...(until === undefined ? [] : [`--until=${until}`]),
  ];
  return { before: ["-i", ...before], after: path === undefined ? [] : ["--", path] };
}

/** Returns the ids of all commits of `git log`. */
export function logIds(folder: string, revision: string, filters: LogFilters): string[] {
  const { before, after } = logArguments(filters);
  const text = said(
    folder,
    "--literal-pathspecs",
    "log",
    "--format=%H",
    ...before,
    revision,
    ...after,
  );
  return text.split("\n").filter(Boolean);
}

/** Returns one commit, field by field. */
export function commitOf(folder: string, id: string): Commit & { parents: string[] } {
  const names = ["%H", "%aI", "%s", "%D", "%b", "%aN", "%aE", "%P"];
  const format = `--format=tformat:${names.join("%n--\u0001--%n")}`;
  const text = said(folder, "show", "-s", "--no-notes", format, id).replace(/\n$/, "");
  const fields = text.split("\n--\u0001--\n") as [
    string,
    string,
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const [hash, date, message, refs, body, authorName, authorEmail, ids] = fields;
  const parents = ids === "" ? [] : ids.split(" ");
  return { hash, date, message, refs, body, authorName, authorEmail, parents };
}

/** Returns the hunks of `git diff` as text, file after file. */
export function diffText(folder: string, base: string, head: string, path?: string): string[] {
  const paths = path === undefined ? [] : ["--", path];
  const options = ["--literal-pathspecs", "diff", "--no-color", "--no-ext-diff"];
  const text = said(folder, ...options, base, head, ...paths);
  return text
    .split(/^diff --git .*\n/m)
    .slice(1)
    .map((file) => /^@@ -.*/ms.exec(file)?.[0].replace(/\n$/, "") ?? "");
}

/** Returns the hunks of quern's difference as git would write them. */
export const hunksText = ({ hunks }: FileDiff): string =>
  hunks
    .map(({ oldRange, newRange, heading, body }) => {
      const range = ({ start, lines }: FileDiff["hunks"][number]["oldRange"]) =>
        lines === 1 ? `${start}` : `${start},${lines}`;
      const tail = heading === undefined ? "" : ` ${heading}`;
      return `@@ -${range(oldRange)} +${range(newRange)} @@${tail}\n${body}`;
    })
    .join("\n");

/** Returns `status old new` of `git diff --name-status`, one line per file. */
export function diffNames(folder: string, base: string, head: string, path?: string): string[] {
  const paths = path === undefined ? [] : ["--", path];
  const options = ["--literal-pathspecs", "diff", "--name-status", "-z"];
  const fields = said(folder, ...options, base, head, ...paths).split("\0");
  const names: string[] = [];
  for (let at = 0; at + 1 < fields.length;) {
    const status = fields[at]![0]!;
    const [old, next] = [fields[at + 1]!, fields[at + 2]!];
    at += status === "R" ? 3 : 2;
    if (status === "R") names.push(`${old} -> ${next}`);
    else if (status === "A") names.push(`null -> ${old}`);
    else if (status === "D") names.push(`${old} -> null`);
    else if (status === "T") names.push(`${old} -> null`, `null -> ${old}`);
    else names.push(`${old} -> ${old}`);
  }
  return names;
}

export const namesOf = ({ oldPath, newPath }: FileDiff): string => `${oldPath} -> ${newPath}`;

/** Returns `hash path line` for each line of `git blame --line-porcelain`, where every line has all facts. */
export function blameLines(folder: string, revision: string, path: string): string[] {
  const text = said(
    folder,
    "-c",
    "core.quotePath=false",
    "blame",
    "--line-porcelain",
    revision,
    "--",
    path,
  );
  const lines: string[] = [];
  let [head, facts] = ["", new Map<string, string>()];
  for (const line of text.split("\n")) {
    if (/^[0-9a-f]{40} \d+ \d+/.test(line)) [head, facts] = [line.slice(0, 40), new Map()];
    else if (line.startsWith("\t"))
      lines.push(
        `${head} ${facts.get("filename")} ${lines.length + 1} ${facts.get("author")} ${facts.get("author-mail")} ${facts.get("author-time")} ${facts.get("summary")}`,
      );
    else if (line.startsWith('filename "'))
      facts.set("filename", JSON.parse(line.slice(9)) as string);
    else facts.set(line.split(" ")[0]!, line.slice(line.indexOf(" ") + 1));
  }
  return lines;
}

/** Returns the same lines for quern's blame. */
export const blameLinesOf = ({ ranges, commits }: Blame): string[] =>
  ranges.flatMap(({ hash, path, startLine, lineCount }) =>
    Array.from({ length: lineCount }, (_, n) => {
      const { authorName, authorEmail, date, message } = commits[hash]!;
      const seconds = Date.parse(date) / 1000;
      return `${hash} ${path} ${startLine + n} ${authorName} <${authorEmail}> ${seconds} ${message}`;
    }),
  );

/** Returns `count name <email>`, in git's order. */
export function authorLines(folder: string, revision: string, path?: string): string[] {
  const paths = path === undefined ? [] : ["--", path];
  return said(folder, "--literal-pathspecs", "shortlog", "-sne", revision, ...paths)
    .split("\n")
    .filter(Boolean)
    .map((line) => line.trim().replace("\t", " "));
}

export const authorLine = ({ name, email, commitCount }: Author): string =>
  `${commitCount} ${name} <${email}>`;

/** Returns `type path` for every file. */
export function treeLines(folder: string, revision: string): string[] {
  const text = said(folder, "ls-tree", "-r", "-z", "--full-tree", revision);
  return text
    .split("\0")
    .filter(Boolean)
    .map((line) => {
      const [head, path] = [line.slice(0, line.indexOf("\t")), line.slice(line.indexOf("\t") + 1)];
      const type = head.startsWith("120000")
        ? "symlink"
        : head.startsWith("160000")
          ? "submodule"
          : "file";
      return `${type} ${path}`;
    });
}
