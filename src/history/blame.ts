/**
 * Reads the output of `git blame --porcelain`. For each line of the file, git writes a header with the id of a commit
 * and the line numbers. If the commit occurs for the first time, its author, its date and other facts about it
 * follow. The last part is a tab and the text of the line.
 */

import type { Pause } from "../base/yield.ts";
import type { Blame, BlamedCommit } from "./history.ts";
import type { Operation } from "./operation.ts";

/**
 * The options of git blame. A repository's configuration may name a file that lists revisions to ignore. quern does
 * not use this file, because git fails if it does not exist.
 */
const FORMAT = ["--porcelain", "--encoding=UTF-8", "--no-textconv", "--no-ignore-revs-file"];

/**
 * Finds the commit that each line of a file comes from. REQUIRES: the commit has a file or symbolic link at this
 * path.
 */
export async function blameFile(
  operation: Operation,
  { commit, path }: { commit: string; path: string },
  pause: Pause,
): Promise<Blame> {
  const args = ["blame", ...FORMAT, commit, "--", path];
  return parseBlame(
    await operation.mustOutput("git's output for its lines", args, { code: "FILE_TOO_LARGE" }),
    pause,
  );
}

const LF = 10;
const TAB = 9;
const GROUP = /^([0-9a-f]{40,64}) \d+ (\d+) (\d+)$/;
const LINES_PER_PAUSE = 256;

async function parseBlame(output: Buffer, pause: Pause): Promise<Blame> {
  const reading = new Reading();
  let lines = 0;
  for (let at = 0; at < output.length;) {
    const end = output.indexOf(LF, at);
    const to = end === -1 ? output.length : end;
    if (output[at] !== TAB) reading.take(output.toString("utf8", at, to));
    at = to + 1;
    if (++lines % LINES_PER_PAUSE === 0) await pause();
  }
  return reading.finish(pause);
}

type Facts = Map<string, string>;

/**
 * Collects the ranges of lines, and the facts about each commit. git writes these facts only where the commit first
 * occurs. git repeats the path only if lines from the same commit come from several paths.
 */
class Reading {
  readonly #ranges: Blame["ranges"] = [];
  readonly #facts = new Map<string, Facts>();
  #current: Facts = new Map();

  take(line: string): void {
    const group = GROUP.exec(line);
    if (group !== null) return this.#begin(group);
    const blank = line.indexOf(" ");
    const [key, value] = blank === -1 ? [line, ""] : [line.slice(0, blank), line.slice(blank + 1)];
    const range = this.#ranges.at(-1);
    if (key === "filename" && range?.path === "") range.path = unquoted(value);
    if (!this.#current.has(key) || key === "filename") this.#current.set(key, value);
  }

  #begin([, hash = "", startLine, lineCount]: RegExpExecArray): void {
    this.#current = this.#facts.get(hash) ?? new Map<string, string>();
    this.#facts.set(hash, this.#current);
    const range = { hash, path: "", startLine: Number(startLine), lineCount: Number(lineCount) };
    this.#ranges.push(range);
  }

  async finish(pause: Pause): Promise<Blame> {
    // sets the path of ranges for which git has not repeated it
    for (const range of this.#ranges) {
      if (range.path === "")
        range.path = unquoted(this.#facts.get(range.hash)?.get("filename") ?? "");
      await pause();
    }
    const commits: Record<string, BlamedCommit> = {};
    for (const [hash, facts] of this.#facts) {
      commits[hash] = blamed(hash, facts);
      await pause();
    }
    return { ranges: this.#ranges, commits };
  }
}

function blamed(hash: string, facts: Facts): BlamedCommit {
  const fact = (key: string): string => facts.get(key) ?? "";
  const [previous = "", path] = splitOnce(fact("previous"));
  return {
    hash,
    date: isoDate(Number(fact("author-time")), fact("author-tz")),
    message: fact("summary"),
    authorName: fact("author"),
    authorEmail: fact("author-mail").replace(/^<|>$/g, ""),
    ...(path === undefined ? {} : { previous: { hash: previous, path: unquoted(path) } }),
  };
}

function splitOnce(text: string): [string?, string?] {
  const blank = text.indexOf(" ");
  return blank === -1 ? [] : [text.slice(0, blank), text.slice(blank + 1)];
}

/**
 * Formats a time in ISO 8601, as git does. `seconds` are counted since 1970, and `zone` is a time zone such as +0130.
 */
function isoDate(seconds: number, zone: string): string {
  const [, sign = "+", hours = "00", minutes = "00"] = /^([+-])(\d{2})(\d{2})$/.exec(zone) ?? [];
  const offset = (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60;
  const local = new Date((seconds + offset) * 1000);
  if (Number.isNaN(local.getTime())) return "1970-01-01T00:00:00+00:00"; // git also writes this for an invalid time
  return `${local.toISOString().slice(0, 19)}${sign}${hours}:${minutes}`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  t: "\t",
  n: "\n",
  v: "\v",
  f: "\f",
  r: "\r",
};

/**
 * Returns the original form of a path. git writes a path with quotes, backslashes or control characters as a string
 * literal of C.
 */
function unquoted(path: string): string {
  if (!path.startsWith('"')) return path;
  return path
    .slice(1, -1)
    .replace(/\\(?:([0-7]{3})|(.))/g, (_, octal?: string, letter = "") =>
      octal === undefined
        ? (ESCAPES[letter as string] ?? (letter as string))
        : String.fromCharCode(Number.parseInt(octal, 8)),
    );
}
