/** Reads a history with git log alone. It shares no code with the index. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface LogLine {
  readonly side: "added" | "removed";
  /** The 1-based number of the line in its file. */
  readonly line: number;
  /** One character for each byte. */
  readonly text: string;
}

export interface LogChange {
  readonly commit: LogCommit;
  /** One character for each byte, as oldPath. */
  readonly path: string;
  readonly oldPath: string;
  readonly isRename: boolean;
  readonly lines: readonly LogLine[];
}

export interface LogCommit {
  readonly id: string;
  readonly author: string;
  readonly committer: string;
  /** Seconds since 1970. */
  readonly date: number;
  readonly message: string;
  readonly parents: number;
}

/** Runs git without any configuration but that of the repository, in an empty folder. */
export function pureGit(folder: string, args: readonly string[]): Buffer {
  const empty = mkdtempSync(join(tmpdir(), "quern-pure-"));
  const env = {
    PATH: process.env["PATH"],
    HOME: empty,
    GIT_DIR: folder,
    GIT_WORK_TREE: empty,
    GIT_INDEX_FILE: join(empty, "no-index"),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_GRAFT_FILE: "/dev/null",
    LC_ALL: "C",
  };
  const settings = [
    "core.attributesFile=/dev/null",
    "core.bigFileThreshold=2m",
    "core.quotePath=true",
    "diff.renameLimit=1000",
    "advice.graftFileDeprecated=false",
  ].flatMap((one) => ["-c", one]);
  try {
    const options = { cwd: empty, env, maxBuffer: 2 ** 30 };
    return execFileSync("git", [...settings, ...args], options);
  } finally {
    rmSync(empty, { recursive: true });
  }
}

const LOG = ["log", "--date-order", "--no-mailmap", "--encoding=UTF-8"];

/** Returns the commits that the revisions reach, newest first as git lists them. */
export function logCommits(folder: string, revisions: readonly string[]): LogCommit[] {
  const format = "--format=%H%x00%an <%ae>%x00%cn <%ce>%x00%P%x00%B%x00";
  const text = pureGit(folder, [...LOG, "-z", format, ...revisions, "--"]).toString("utf8");
  const fields = text.split("\0");
  const commits: LogCommit[] = [];
  for (let i = 0; i + 4 < fields.length; i += 6) {
    const [id, author, committer, parents, message] = fields.slice(i, i + 5) as [
      string,
      string,
      string,
      string,
      string,
    ];
    const raw = pureGitCommit(folder, id);
    commits.push({
      id,
      author,
      committer,
      date: Number(/^committer .*> (-?\d+) /m.exec(raw)![1]),
      message,
      parents: parents.split(" ").filter((one) => one !== "").length,
    });
  }
  return commits;
}

const pureGitCommit = (folder: string, id: string): string =>
  pureGit(folder, ["cat-file", "commit", id]).toString("latin1");

/** Returns all changes of the commits that the revisions reach, in the order of git log. */
export function logChanges(folder: string, revisions: readonly string[]): LogChange[] {
  const commits = new Map(logCommits(folder, revisions).map((one) => [one.id, one]));
  const args = ["--no-merges", "-p", "-M", "-l1000", "--diff-algorithm=myers", "--format=@%H"];
  const quiet = ["--no-color", "--no-ext-diff", "--no-textconv", "--submodule=short"];
  const output = pureGit(folder, [...LOG, ...args, ...quiet, ...revisions, "--"]);
  return parseLog(output.toString("latin1"), commits);
}

/** Parses the output of `git log -p --format=@%H`, with one character for each byte. */
export function parseLog(log: string, commits: ReadonlyMap<string, LogCommit>): LogChange[] {
  const changes: LogChange[] = [];
  let commit: LogCommit | undefined;
  let current: { path: string; oldPath: string; isRename: boolean; lines: LogLine[] } | undefined;
  let [oldLine, newLine, oldLeft, newLeft] = [0, 0, 0, 0];
  let isDeletion = false;
  for (const line of log.split("\n")) {
    if (oldLeft + newLeft > 0) {
      const text = line.slice(1);
      if (line[0] === "+") current!.lines.push({ side: "added", line: newLine, text });
      else if (line[0] === "-") current!.lines.push({ side: "removed", line: oldLine, text });
      else if (line[0] === "\\") continue;
      if (line[0] !== "+") {
        oldLine++;
        oldLeft--;
      }
      if (line[0] !== "-") {
        newLine++;
        newLeft--;
      }
      continue;
    }
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (hunk) {
      [oldLine, newLine] = [Number(hunk[1]), Number(hunk[3])];
      [oldLeft, newLeft] = [Number(hunk[2] ?? 1), Number(hunk[4] ?? 1)];
    } else if (/^@[0-9a-f]{40,64}$/.test(line)) {
      commit = commits.get(line.slice(1));
    } else if (line.startsWith("diff --git ")) {
      const [oldPath, path] = pathsOf(line);
      const before = changes.at(-1);
      // a change of type has two patches, the first of which deletes the file
      if (isDeletion && before?.commit === commit && before?.path === path) {
        current = before as unknown as typeof current;
      } else {
        current = { path, oldPath, isRename: oldPath !== path, lines: [] };
        changes.push({ ...current, commit: commit! });
        current = changes.at(-1) as unknown as typeof current;
      }
      isDeletion = false;
    } else if (line.startsWith("deleted file mode")) isDeletion = true;
  }
  return changes;
}

/** Returns both paths in the head of a patch, which git may have quoted. */
function pathsOf(head: string): [oldPath: string, path: string] {
  const rest = head.slice("diff --git ".length);
  if (rest.includes('"')) {
    const parts = [...rest.matchAll(/"((?:[^"\\]|\\.)*)"|(\S.*?)(?= "|$)/g)];
    const [one, other] = parts.map(([, quoted, plain]) => (quoted ? unquoted(quoted) : plain!));
    return [one!.slice(2), other!.slice(2)];
  }
  // without a rename, both paths are equal, and may contain blanks
  const half = (rest.length - 1) / 2;
  if (rest.slice(2, half) === rest.slice(half + 3))
    return [rest.slice(2, half), rest.slice(half + 3)];
  const split = rest.indexOf(" b/");
  return [rest.slice(2, split), rest.slice(split + 3)];
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", '"': '"', "\\": "\\" };

const unquoted = (text: string): string =>
  text.replace(/\\(\d{3}|.)/g, (_, code: string) =>
    /^\d/.test(code) ? String.fromCharCode(Number.parseInt(code, 8)) : (ESCAPES[code] ?? code),
  );
