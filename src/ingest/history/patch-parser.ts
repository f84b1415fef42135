/**
 * Parses the output of `git diff-tree --stdin --always --raw -p -z`, which arrives in chunks. For each commit, it has the
 * id and NUL; for each change a raw record, whose fields end with NUL; then another NUL, and a patch for each record, or
 * two patches if the type of the file changes (status T). All other lines end with a newline. The head of a hunk says how
 * many lines the hunk has, so no line of content is taken for anything else.
 */

import { QuernError } from "../../base/errors.ts";
import {
  STATUSES,
  type ChangeInfo,
  type HistorySink,
  type SideKind,
  type Status,
} from "../../store/history/history-builder.ts";

const NUL = 0;
const LF = 10;
const BLANK = 32;
const PLUS = 43;
const MINUS = 45;
const COLON = 58;
const AT = 64;
const BACKSLASH = 92;
const LETTER_B = 66;
const LETTER_D = 100;

/** The sink of a parser. The parser calls `commit` with the id alone. */
export type PatchSink = Omit<HistorySink, "commit"> & { readonly commit: (id: string) => void };

export class PatchParser {
  readonly #sink: PatchSink;
  /** The length of an id in hexadecimal digits. */
  readonly #idLength: number;
  #rest: Buffer = Buffer.alloc(0);
  #records: ChangeInfo[] = [];
  /** The number of records of the current commit whose patches have begun. */
  #begun = 0;
  /** Whether the first patch of a record with status T has begun, but not the second. */
  #isHalf = false;
  // the numbers of lines that are left in the hunk
  #oldLeft = 0;
  #newLeft = 0;
  // the next lines of the old and the new file
  #oldLine = 0;
  #newLine = 0;
  /** Whether the line before was added or removed, so that the next such line continues its run. */
  #isInRun = false;

  constructor(sink: PatchSink, idLength: number) {
    this.#sink = sink;
    this.#idLength = idLength;
  }

  feed(chunk: Buffer): void {
    const data = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const end = this.#parse(data);
    this.#rest = data.subarray(end);
  }

  /** REQUIRES: the whole output was fed. */
  end(): void {
    const isWhole = this.#rest.length === 0 && this.#oldLeft + this.#newLeft === 0;
    if (!isWhole || this.#begun < this.#records.length) throw unexpected("ends early");
  }

  /** Returns the position up to which the data was parsed. The rest is incomplete. */
  #parse(data: Buffer): number {
    let at = 0;
    while (at < data.length) {
      const next =
        this.#oldLeft + this.#newLeft > 0 ? this.#hunkLine(data, at) : this.#other(data, at);
      if (next === undefined) return at;
      at = next;
    }
    return at;
  }

  #hunkLine(data: Buffer, at: number): number | undefined {
    const end = data.indexOf(LF, at);
    if (end < 0) return undefined;
    switch (data[at]!) {
      case PLUS:
        this.#changed(data, at + 1, end, true);
        this.#newLeft--;
        this.#newLine++;
        break;
      case MINUS:
        this.#changed(data, at + 1, end, false);
        this.#oldLeft--;
        this.#oldLine++;
        break;
      case BLANK:
        this.#oldLeft--;
        this.#newLeft--;
        this.#oldLine++;
        this.#newLine++;
        this.#isInRun = false;
        break;
      case BACKSLASH: // "\ No newline at end of file"
        break;
      default:
        throw unexpected("has a hunk with a wrong line");
    }
    return end + 1;
  }

  #changed(data: Buffer, from: number, to: number, isAdded: boolean): void {
    if (!this.#isInRun) this.#sink.run(this.#oldLine, this.#newLine);
    this.#isInRun = true;
    this.#sink.line(data, from, to, isAdded);
  }

  #other(data: Buffer, at: number): number | undefined {
    const byte = data[at];
    if (byte === NUL) return at + 1;
    if (byte === COLON) return this.#raw(data, at);
    if (isHex(byte!)) {
      const end = at + this.#idLength;
      if (end >= data.length && data.indexOf(LF, at) < 0) return undefined;
      if (data[end] === NUL && data.subarray(at, end).every(isHex)) {
        this.#commit(data.toString("latin1", at, end));
        return end + 1;
      }
    }
    const end = data.indexOf(LF, at);
    if (end < 0) return undefined;
    if (byte === AT) this.#hunk(data.toString("latin1", at, Math.min(end, at + 100)));
    else if (byte === LETTER_D && data.toString("latin1", at, at + 11) === "diff --git ")
      this.#patch();
    else if (byte === LETTER_B) this.#sink.binary(); // "Binary files a/… and b/… differ"
    return end + 1;
  }

  #commit(id: string): void {
    if (this.#begun < this.#records.length) throw unexpected("lacks a patch");
    this.#records = [];
    this.#begun = 0;
    this.#sink.commit(id);
  }

  /** Parses a record such as `:100644 100644 <id> <id> R90 NUL old NUL new NUL`. */
  #raw(data: Buffer, at: number): number | undefined {
    const head = data.indexOf(NUL, at);
    const first = head < 0 ? -1 : data.indexOf(NUL, head + 1);
    if (first < 0) return undefined;
    const [oldMode = "", mode = "", , , letters = ""] = data
      .toString("latin1", at + 1, head)
      .split(" ");
    const status = STATUSES.find((one) => one === letters[0]);
    if (!status) throw unexpected(`has the status ${letters}`);
    const oldPath = data.toString("latin1", head + 1, first);
    const end = status === "R" ? data.indexOf(NUL, first + 1) : first;
    if (end < 0) return undefined;
    const path = status === "R" ? data.toString("latin1", first + 1, end) : oldPath;
    this.#records.push({ status, path, oldPath, kind: kindOf(mode), oldKind: kindOf(oldMode) });
    return end + 1;
  }

  #patch(): void {
    this.#isInRun = false;
    if (this.#isHalf) {
      this.#isHalf = false;
      return;
    }
    const record = this.#records[this.#begun++];
    if (!record) throw unexpected("has a patch without a record");
    this.#isHalf = record.status === ("T" satisfies Status);
    this.#sink.change(record);
  }

  #hunk(head: string): void {
    const match = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(head);
    if (!match) throw unexpected("has a wrong head of a hunk");
    const [oldLines, newLines] = [Number(match[2] ?? 1), Number(match[4] ?? 1)];
    [this.#oldLeft, this.#newLeft] = [oldLines, newLines];
    // for a side without lines, git names the line before
    this.#oldLine = Number(match[1]) + (oldLines === 0 ? 1 : 0);
    this.#newLine = Number(match[3]) + (newLines === 0 ? 1 : 0);
    this.#isInRun = false;
  }
}

const isHex = (byte: number): boolean => (byte >= 48 && byte <= 57) || (byte >= 97 && byte <= 102);

/** Returns the kind of object that has a mode in six octal digits. */
export function kindOf(mode: string): SideKind {
  if (mode === "000000") return "none";
  if (mode === "120000") return "symlink";
  return mode === "160000" ? "submodule" : "file";
}

function unexpected(what: string): QuernError {
  return new QuernError("SOURCE_UNREADABLE", `the output of git diff-tree ${what}`);
}
