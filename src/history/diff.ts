/**
 * Compares two commits. A single git command writes first the names of all files that differ (`--raw`), and then a
 * patch with the files in the same order. The names are read from the first part, where `-z` makes git write them
 * unchanged.
 */

import { decodeInSlices } from "../base/decode-text.ts";
import { assert } from "../base/errors.ts";
import type { Pause } from "../base/yield.ts";
import { pathArguments } from "./filters.ts";
import type { FileDiff } from "./history.ts";
import type { Operation } from "./operation.ts";

const FORMAT =
  "-r -z --find-renames --patch-with-raw --no-color --no-ext-diff --no-textconv --ignore-submodules=none --submodule=short --unified=3".split(
    " ",
  );

/** Compares two commits, which are given by their full ids. */
export async function diffCommits(
  operation: Operation,
  { base, head, path }: { base: string; head: string; path: string | undefined },
  pause: Pause,
): Promise<FileDiff[]> {
  const args = ["diff-tree", ...FORMAT, base, head, ...pathArguments(path)];
  return parseDiff(
    await operation.mustOutput("the difference", args, { code: "FILE_TOO_LARGE" }),
    pause,
  );
}

type Paths = Pick<FileDiff, "oldPath" | "newPath">;

async function parseDiff(output: Buffer, pause: Pause): Promise<FileDiff[]> {
  const { paths, end } = await parseNames(output, pause);
  const patch = new Patch(output, end, pause);
  const files: FileDiff[] = [];
  while (patch.nextFile()) {
    const names = paths[files.length];
    assert(names !== undefined, "a patch has more files than git has named");
    const hunks: FileDiff["hunks"] = [];
    for (let hunk = await patch.nextHunk(); hunk; hunk = await patch.nextHunk()) {
      hunks.push(hunk);
      await pause();
    }
    files.push({ ...names, hunks });
    await pause();
  }
  assert(files.length === paths.length, "a patch has fewer files than git has named");
  return files;
}

/**
 * Parses the names. A record is `:<mode> <mode> <id> <id> <status>` and a path, or two paths if a file was renamed.
 * Each of these parts ends with NUL, and another NUL follows the last record. If a path has changed its type, such as
 * from a file to a symbolic link, the patch has two files for this record. `end` is the offset at which the patch
 * begins.
 */
async function parseNames(output: Buffer, pause: Pause): Promise<{ paths: Paths[]; end: number }> {
  const paths: Paths[] = [];
  let at = 0;
  const field = (): string => {
    const end = output.indexOf(0, at);
    const text = output.toString("utf8", at, end);
    at = end + 1;
    return text;
  };
  while (output[at] === COLON) {
    const head = field();
    const status = head.charAt(head.lastIndexOf(" ") + 1);
    const oldPath = field();
    switch (status) {
      case "A":
        paths.push({ oldPath: null, newPath: oldPath });
        break;
      case "D":
        paths.push({ oldPath, newPath: null });
        break;
      case "R":
        paths.push({ oldPath, newPath: field() });
        break;
      case "T":
        paths.push({ oldPath, newPath: null }, { oldPath: null, newPath: oldPath });
        break;
      default:
        paths.push({ oldPath, newPath: oldPath });
    }
    await pause();
  }
  return { paths, end: at === 0 ? 0 : at + 1 };
}

const LINES_PER_PAUSE = 256;
const COLON = 58;
const LF = 10;
const [BLANK, PLUS, MINUS, BACKSLASH] = [32, 43, 45, 92];
const FILE = Buffer.from("diff --git ");
const HUNK = Buffer.from("@@ -");
const HUNK_HEAD = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(?: (.*))?$/su;

/**
 * Reads a patch line by line. The numbers of lines at the start of a hunk determine where the hunk ends. So no line
 * of content is mistaken for a header.
 */
class Patch {
  readonly #bytes: Buffer;
  readonly #pause: Pause;
  #at: number;

  constructor(bytes: Buffer, at: number, pause: Pause) {
    this.#bytes = bytes;
    this.#at = at;
    this.#pause = pause;
  }

  /** Moves to the next file in the patch. Returns false if there is none. */
  nextFile(): boolean {
    while (this.#at < this.#bytes.length) {
      const isFile = this.#startsWith(FILE);
      this.#at = this.#lineEnd() + 1;
      if (isFile) return true;
    }
    return false;
  }

  /** Resolves to the next hunk of the current file, or to undefined if there is none. */
  async nextHunk(): Promise<FileDiff["hunks"][number] | undefined> {
    while (this.#at < this.#bytes.length && !this.#startsWith(FILE)) {
      if (this.#startsWith(HUNK)) return this.#hunk();
      this.#at = this.#lineEnd() + 1;
    }
    return undefined;
  }

  async #hunk(): Promise<FileDiff["hunks"][number]> {
    const end = this.#lineEnd();
    const match = HUNK_HEAD.exec(this.#bytes.toString("utf8", this.#at, end));
    assert(match !== null, "a hunk's head is as git writes it");
    const [, oldStart, oldLines = "1", newStart, newLines = "1", heading = ""] = match;
    this.#at = end + 1;
    return {
      oldRange: { start: Number(oldStart), lines: Number(oldLines) },
      newRange: { start: Number(newStart), lines: Number(newLines) },
      ...(heading === "" ? {} : { heading }),
      body: await this.#body(Number(oldLines), Number(newLines)),
    };
  }

  async #body(oldLines: number, newLines: number): Promise<string> {
    const start = this.#at;
    let lines = 0;
    for (let [old, next] = [oldLines, newLines]; this.#at < this.#bytes.length;) {
      const sign = this.#bytes[this.#at];
      if (old + next === 0 && sign !== BACKSLASH) break;
      if (sign === BLANK || sign === MINUS) old--;
      if (sign === BLANK || sign === PLUS) next--;
      this.#at = this.#lineEnd() + 1;
      if (++lines % LINES_PER_PAUSE === 0) await this.#pause();
    }
    const body = this.#bytes.subarray(start, Math.max(start, this.#at - 1));
    return decodeInSlices(body, this.#pause);
  }

  #startsWith(head: Buffer): boolean {
    return this.#bytes.compare(head, 0, head.length, this.#at, this.#at + head.length) === 0;
  }

  #lineEnd(): number {
    const end = this.#bytes.indexOf(LF, this.#at);
    return end === -1 ? this.#bytes.length : end;
  }
}
