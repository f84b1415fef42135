/**
 * Collects commits with their changes, newest first, and writes them as one history segment (tables.ts). Takes memory
 * for the text, about 24 bytes for each different line, and about 16 bytes for each added or removed line.
 */

import { createHash } from "node:crypto";
import { GrowableBytes, GrowableWords } from "../../base/growable.ts";
import { createGramLists } from "../../kernel/gram-lists.ts";
import { createKernel } from "../../kernel/kernel.ts";
import { HASH_BYTES, OVERLAP, type NewLayout } from "../format/format.ts";
import type { SegmentTarget } from "../segments/segment-target.ts";
import { SegmentWriter } from "../segments/segment-writer.ts";
import { COMMIT_FLAG } from "./commit-table.ts";
import { LineTable } from "./line-table.ts";
import {
  GROUP,
  HISTORY,
  putHistoryHeader,
  putHistoryValue,
  Units,
  valuesOf,
  type HistoryTable,
} from "./tables.ts";
import { VarintWriter } from "./varints.ts";

export interface CommitInfo {
  /** The id in hexadecimal digits. */
  readonly id: string;
  readonly parents: readonly string[];
  /** `name <mail>`, in UTF-8. */
  readonly author: string;
  readonly committer: string;
  /** Seconds since 1970. */
  readonly authored: number;
  readonly committed: number;
  /** Whether the repository is shallow here, so that the commit's changes are not known. */
  readonly isBoundary: boolean;
  readonly message: Uint8Array;
}

/** The status of a change, and what kind of object its sides are. The values are stored. */
export const STATUSES = ["A", "M", "D", "R", "T"] as const;
export type Status = (typeof STATUSES)[number];
export const SIDE_KINDS = ["none", "file", "symlink", "submodule"] as const;
export type SideKind = (typeof SIDE_KINDS)[number];

export interface ChangeInfo {
  readonly status: Status;
  readonly path: string; // bytes, as Latin-1
  /** The path before a rename, otherwise the same as `path`. */
  readonly oldPath: string;
  readonly kind: SideKind;
  readonly oldKind: SideKind;
}

/** Receives commits and their changes. Each call belongs to the last commit and the last change before it. */
export interface HistorySink {
  commit(info: CommitInfo): void;
  change(info: ChangeInfo): void;
  /** Marks the change as binary, so that its lines are not known. */
  binary(): void;
  /** Begins a run of consecutive changed lines, at these 1-based lines of the old and the new file. */
  run(oldLine: number, newLine: number): void;
  line(data: Uint8Array, from: number, to: number, isAdded: boolean): void;
}

export interface WrittenHistory {
  readonly segment: number;
  readonly commits: number;
  readonly changes: number;
  readonly textBytes: number;
}

const CHUNK_BYTES = 2 ** 20;
const NEWLINE = Uint8Array.of(10);
const TRANSACTION_VALUES = 64;

class Names {
  readonly list: string[] = [];
  readonly #numbers = new Map<string, number>();

  number(name: string): number {
    let number = this.#numbers.get(name);
    if (number === undefined) {
      this.#numbers.set(name, (number = this.list.length));
      this.list.push(name);
    }
    return number;
  }
}

export class HistoryBuilder implements HistorySink {
  readonly #commits: Omit<CommitInfo, "message">[] = [];
  /** The first change of each commit. */
  readonly #commitChanges = new GrowableWords();
  readonly #messages = new GrowableBytes();
  readonly #messageEnds = new GrowableWords();
  readonly #paths = new Names();
  readonly #lines = new LineTable();
  // a row for each change
  readonly #path = new GrowableWords();
  readonly #oldPath = new GrowableWords();
  readonly #flags = new GrowableWords();
  readonly #kinds = new GrowableBytes();
  readonly #firstRun = new GrowableWords();
  // a row for each run
  readonly #oldLine = new GrowableWords();
  readonly #newLine = new GrowableWords();
  readonly #firstEntry = new GrowableWords();
  /** For each added or removed line, twice its number, plus 1 if it is added. */
  readonly #entries = new GrowableWords(1024);

  get commits(): number {
    return this.#commits.length;
  }

  get textBytes(): number {
    return this.#lines.text.length + this.#messages.length;
  }

  /** The number of bytes of memory that the content takes until it is written. */
  get bytes(): number {
    const rows = 400 * this.commits + 20 * this.#path.length + 12 * this.#oldLine.length;
    return this.#lines.bytes + this.#messages.length + 16 * this.#entries.length + rows;
  }

  commit({ message, ...info }: CommitInfo): void {
    this.#commits.push(info);
    this.#commitChanges.push(this.#path.length);
    this.#messages.push(message);
    this.#messages.push(NEWLINE);
    this.#messageEnds.push(this.#messages.length);
  }

  change({ status, path, oldPath, kind, oldKind }: ChangeInfo): void {
    this.#path.push(this.#paths.number(path));
    this.#oldPath.push(this.#paths.number(oldPath));
    this.#flags.push(4 * STATUSES.indexOf(status) + (oldPath === path ? 0 : 2));
    this.#kinds.pushByte(4 * SIDE_KINDS.indexOf(oldKind) + SIDE_KINDS.indexOf(kind));
    this.#firstRun.push(this.#oldLine.length);
  }

  binary(): void {
    this.#flags.view[this.#flags.length - 1]! |= 1;
  }

  run(oldLine: number, newLine: number): void {
    this.#oldLine.push(oldLine);
    this.#newLine.push(newLine);
    this.#firstEntry.push(this.#entries.length);
  }

  line(data: Uint8Array, from: number, to: number, isAdded: boolean): void {
    this.#entries.push(2 * this.#lines.number(data, from, to) + (isAdded ? 1 : 0));
  }

  /** Writes the segment. REQUIRES: there is at least one commit, and nothing is added afterwards. */
  async write(
    target: SegmentTarget,
    { repository, layout, pause }: WriteOptions,
  ): Promise<WrittenHistory> {
    const text = new TextWriter(target, layout);
    await text.addUnits(this.#lines.text, this.#lines.ends, pause);
    await text.addUnits(this.#messages.view, this.#messageEnds.view, pause);
    text.finish();
    const tables = new TablesWriter(target);
    const forward = await this.#forward(pause);
    tables.addUnits(HISTORY.FORWARD, forward);
    const { groups, inverse } = await this.#inverse(pause);
    tables.addUnits(HISTORY.INVERSE, inverse);
    tables.add(HISTORY.GROUPS, groups);
    const { commits, people } = this.#commitTable();
    tables.add(HISTORY.COMMITS, commits);
    tables.add(HISTORY.PEOPLE, namesTable(people, "utf8"));
    tables.add(HISTORY.PATHS, namesTable(this.#paths.list, "latin1"));
    tables.add(HISTORY.CHANGES, this.#changeTable(forward.starts));
    tables.add(HISTORY.LINES, this.#lineTable());
    tables.finish({
      repository,
      idBytes: this.#commits[0]!.id.length / 2,
      commits: this.commits,
      changes: this.#path.length,
      lines: this.#lines.count,
      lineBytes: this.#lines.text.length,
      people: people.length,
      paths: this.#paths.list.length,
    });
    return {
      segment: target.segment,
      commits: this.commits,
      changes: this.#path.length,
      textBytes: this.textBytes,
    };
  }

  #runsOf(change: number): readonly [first: number, end: number] {
    const runs = this.#firstRun.view;
    const end = change + 1 < runs.length ? runs[change + 1]! : this.#oldLine.length;
    return [runs[change]!, end];
  }

  #entriesOf(run: number): readonly [first: number, end: number] {
    const entries = this.#firstEntry.view;
    const end = run + 1 < entries.length ? entries[run + 1]! : this.#entries.length;
    return [entries[run]!, end];
  }

  async #forward(pause: WriteOptions["pause"]): Promise<UnitTable> {
    const out = new VarintWriter();
    const starts = new Uint32Array(this.#path.length + 1);
    const [oldLines, newLines] = [this.#oldLine.view, this.#newLine.view];
    const entries = this.#entries.view;
    for (let change = 0; change < this.#path.length; change++) {
      const [first, end] = this.#runsOf(change);
      let [oldLine, newLine, line] = [0, 0, 0];
      out.number(end - first);
      for (let run = first; run < end; run++) {
        const [from, to] = this.#entriesOf(run);
        out.signed(oldLines[run]! - oldLine);
        out.signed(newLines[run]! - newLine);
        [oldLine, newLine] = [oldLines[run]!, newLines[run]!];
        let added = 0;
        for (let i = from; i < to; i++) added += entries[i]! & 1;
        out.number(to - from - added);
        out.number(added);
        for (let i = from; i < to; i++) {
          const next = entries[i]! >>> 1;
          out.signed(next - line);
          line = next + 1;
        }
      }
      starts[change + 1] = out.length;
      const wait = pause();
      if (wait) await wait;
    }
    return { bytes: out.view, starts };
  }

  /** Groups the entries by line. */
  async #inverse(
    pause: WriteOptions["pause"],
  ): Promise<{ groups: Uint8Array; inverse: UnitTable }> {
    const lines = this.#lines.count;
    const entries = this.#entries.view;
    const ends = new Uint32Array(lines + 1);
    const seen = new Uint32Array(lines); // the last change of each line, plus 1
    const forEachEntry = (visit: (change: number, entry: number) => void): void => {
      for (let change = 0; change < this.#path.length; change++) {
        const [first, end] = this.#runsOf(change);
        if (first === end) continue;
        const to = this.#entriesOf(end - 1)[1];
        for (let i = this.#entriesOf(first)[0]; i < to; i++) visit(change, entries[i]!);
      }
    };
    forEachEntry((change, entry) => {
      const line = entry >>> 1;
      if (seen[line] === change + 1) return;
      seen[line] = change + 1;
      ends[line + 1]!++;
    });
    await pause();
    for (let line = 0; line < lines; line++) ends[line + 1]! += ends[line]!;
    const changes = new Uint32Array(ends[lines]!);
    // how often a change adds and removes a line
    const [added, removed] = [new Uint32Array(changes.length), new Uint32Array(changes.length)];
    const next = ends.slice(0, lines);
    seen.fill(0);
    forEachEntry((change, entry) => {
      const line = entry >>> 1;
      if (seen[line] !== change + 1) {
        seen[line] = change + 1;
        changes[next[line]!++] = change;
      }
      const at = next[line]! - 1;
      if (entry & 1) added[at]!++;
      else removed[at]!++;
    });
    await pause();
    const [out, groups] = [new VarintWriter(), new VarintWriter()];
    const starts = new Uint32Array(Math.ceil(lines / GROUP) + 1);
    let [base, groupBase] = [0, 0];
    for (let line = 0; line < lines; line++) {
      const [from, to] = [ends[line]!, ends[line + 1]!];
      if (line % GROUP === 0) {
        if (line > 0) groups.number(out.length - starts[line / GROUP - 1]!);
        starts[line / GROUP] = out.length;
        groups.signed(changes[from]! - groupBase);
        base = groupBase = changes[from]!;
      }
      out.number(to - from - 1);
      let last = base;
      for (let at = from; at < to; at++) {
        const [plus, minus] = [added[at]!, removed[at]!];
        const isMany = plus > 1 || minus > 1;
        out.number(
          8 * (changes[at]! - last) + (isMany ? 4 : 0) + (minus > 0 ? 2 : 0) + (plus > 0 ? 1 : 0),
        );
        if (isMany) {
          out.number(plus);
          out.number(minus);
        }
        last = changes[at]!;
      }
      base = changes[from]!;
    }
    if (lines > 0) groups.number(out.length - starts[Math.ceil(lines / GROUP) - 1]!);
    starts[starts.length - 1] = out.length;
    return { groups: groups.view, inverse: { bytes: out.view, starts } };
  }

  #commitTable(): { commits: Uint8Array; people: readonly string[] } {
    const out = new VarintWriter();
    const people = new Names();
    const numbers = new Map(this.#commits.map(({ id }, i) => [id, i]));
    const firsts = this.#commitChanges.view;
    const messageEnds = this.#messageEnds.view;
    let before = 0;
    for (const [i, one] of this.#commits.entries()) {
      out.bytes(Buffer.from(one.id, "hex"));
      out.number(one.parents.length);
      for (const parent of one.parents) {
        const number = numbers.get(parent);
        // a parent comes after its children, unless the commits of several runs were merged
        if (number !== undefined && number > i) out.number(number - i);
        else {
          out.number(0);
          out.bytes(Buffer.from(parent, "hex"));
        }
      }
      out.number(people.number(one.author));
      out.number(people.number(one.committer));
      out.signed(one.committed - before);
      out.signed(one.authored - one.committed);
      out.number(one.isBoundary ? COMMIT_FLAG.BOUNDARY : 0);
      out.number((firsts[i + 1] ?? this.#path.length) - firsts[i]!);
      out.number(messageEnds[i]! - (messageEnds[i - 1] ?? 0) - 1);
      before = one.committed;
    }
    return { commits: out.view, people: people.list };
  }

  #changeTable(forwardStarts: Uint32Array): Uint8Array {
    const out = new VarintWriter();
    const [paths, oldPaths, flags] = [this.#path.view, this.#oldPath.view, this.#flags.view];
    const kinds = this.#kinds.view;
    let before = 0;
    for (let change = 0; change < paths.length; change++) {
      out.signed(paths[change]! - before);
      before = paths[change]!;
      out.number(flags[change]!);
      out.number(kinds[change]!);
      if (flags[change]! & 2) out.signed(oldPaths[change]! - before);
      out.number(forwardStarts[change + 1]! - forwardStarts[change]!);
    }
    return out.view;
  }

  #lineTable(): Uint8Array {
    const out = new VarintWriter();
    let start = 0;
    for (const end of this.#lines.ends) {
      out.number(end - start - 1);
      start = end;
    }
    return out.view;
  }
}

interface WriteOptions {
  readonly repository: number;
  readonly layout: NewLayout;
  readonly pause: () => Promise<void> | undefined;
}

/** A table that consists of units. `starts` has the offset of each unit, and the end of the last. */
interface UnitTable {
  readonly bytes: Uint8Array;
  readonly starts: Uint32Array;
}

function namesTable(names: readonly string[], encoding: "utf8" | "latin1"): Uint8Array {
  const out = new VarintWriter();
  for (const name of names) {
    const bytes = Buffer.from(name, encoding);
    out.number(bytes.length);
    out.bytes(bytes);
  }
  return out.view;
}

/** Writes the text of a history segment, in blobs of whole units, with its posting lists. */
class TextWriter {
  readonly #segment: SegmentWriter;
  readonly #kernel = createKernel();
  readonly #layout: NewLayout;
  readonly #grams: ReturnType<typeof createGramLists>;
  readonly #folds = new GrowableWords();

  constructor(target: SegmentTarget, layout: NewLayout) {
    this.#segment = new SegmentWriter(target, layout);
    this.#layout = layout;
    this.#grams = createGramLists(this.#kernel, layout.pageBytes + OVERLAP);
  }

  /** Adds a text that consists of units, which end at `ends`. */
  async addUnits(text: Uint8Array, ends: Uint32Array, pause: WriteOptions["pause"]): Promise<void> {
    let [from, last] = [0, 0];
    for (const end of ends) {
      if (end - from > CHUNK_BYTES && last > from) {
        await this.#addBlob(text.subarray(from, last), pause);
        from = last;
      }
      last = end;
    }
    if (last > from) await this.#addBlob(text.subarray(from, last), pause);
  }

  async #addBlob(text: Uint8Array, pause: WriteOptions["pause"]): Promise<void> {
    const hash = createHash("sha256").update(text).digest().subarray(0, HASH_BYTES);
    let page = this.#segment.pages;
    // the messages may repeat the lines, and two blobs must differ in their language then
    this.#segment.addBlob({ hash, language: String(this.#segment.blobs) }, text);
    while (32 * this.#folds.length < this.#segment.pages) this.#folds.push(0);
    const { pageBytes } = this.#layout;
    for (let from = 0; from < text.length; from += pageBytes, page++) {
      if (this.#grams.add(text.subarray(from, from + pageBytes + OVERLAP)))
        this.#folds.view[page >>> 5]! |= 1 << (page & 31);
      const wait = pause();
      if (wait) await wait;
    }
  }

  finish(): void {
    const grams = (visit: (gram: number, list: Uint8Array) => void) => this.#grams.forEach(visit);
    this.#segment.finish(this.#kernel, grams, this.#folds.view.slice());
  }
}

/** Writes the tables of a history segment, and its header last. */
class TablesWriter {
  readonly #target: SegmentTarget;
  readonly #lengths: number[] = [];
  #pending: (readonly [table: HistoryTable, block: number, value: Uint8Array])[] = [];

  constructor(target: SegmentTarget) {
    this.#target = target;
  }

  add(table: HistoryTable, bytes: Uint8Array): void {
    this.#lengths[table] = bytes.length;
    let block = 0;
    for (const value of valuesOf(bytes)) this.#put(table, block++, value);
  }

  addUnits(table: HistoryTable, { bytes, starts }: UnitTable): void {
    const units = new Units(starts);
    for (let value = 0; value < units.values; value++)
      this.#put(table, value, bytes.subarray(...units.extent(value)));
  }

  #put(table: HistoryTable, block: number, value: Uint8Array): void {
    this.#pending.push([table, block, value]);
    if (this.#pending.length >= TRANSACTION_VALUES) this.#flush();
  }

  #flush(header?: Parameters<typeof putHistoryHeader>[2]): void {
    const { segment } = this.#target;
    this.#target.write((writer) => {
      for (const [table, block, value] of this.#pending)
        putHistoryValue(writer, segment, [table, block], value);
      if (header) putHistoryHeader(writer, segment, header);
    });
    this.#pending = [];
  }

  finish(header: Omit<Parameters<typeof putHistoryHeader>[2], "lengths">): void {
    const lengths = Array.from({ length: HISTORY.FORWARD + 1 }, (_, i) => this.#lengths[i] ?? 0);
    this.#flush({ ...header, lengths });
  }
}
