/**
 * Reads one history segment (tables.ts). Its commits, changes and the starts of its lines are decoded when it is opened,
 * and stay in memory: 20 bytes for each change, 60 for each commit, 4 for each line. The events of lines and the runs of
 * changes are read through the snapshot that is passed to each call.
 */

import { corrupt } from "../format/sealed.ts";
import type { Snapshot } from "../lmdb/environment.ts";
import { openSegment, type SegmentReader } from "../segments/segment-reader.ts";
import { COMMIT_FLAG, readCommits, type CommitTable } from "./commit-table.ts";
import { SIDE_KINDS, STATUSES } from "./history-builder.ts";
import {
  GROUP,
  HISTORY,
  readHistoryHeader,
  readHistoryTable,
  readHistoryValue,
  Units,
  type HistoryHeader,
} from "./tables.ts";
import { VarintReader } from "./varints.ts";

export interface ChangeTable {
  readonly commits: Uint32Array;
  readonly paths: Uint32Array;
  readonly oldPaths: Uint32Array;
  /** Indexes in STATUSES. */
  readonly statuses: Uint8Array;
  readonly binary: Uint8Array;
  /** Four times the index of the old side in SIDE_KINDS, plus that of the new side. */
  readonly kinds: Uint8Array;
}

/** Consecutive changed lines of one change. */
export interface Run {
  /** The 1-based lines of the old and the new file where the run begins. */
  readonly oldLine: number;
  readonly newLine: number;
  readonly removed: Uint32Array;
  readonly added: Uint32Array;
}

const ADDED = 1;
const REMOVED = 2;
const MANY = 4;

export class HistoryReader {
  readonly segment: number;
  readonly header: HistoryHeader;
  readonly text: SegmentReader;
  readonly commits: CommitTable;
  readonly changes: ChangeTable;
  /** Where each line begins in the text, and the end of the last. */
  readonly lineStarts: Uint32Array;
  readonly #groupBases: Uint32Array;
  readonly #inverse: Units;
  readonly #forward: Units;
  #people: readonly string[] | undefined;
  #paths: readonly string[] | undefined;

  constructor(snapshot: Snapshot, segment: number, header: HistoryHeader, text: SegmentReader) {
    this.segment = segment;
    this.header = header;
    this.text = text;
    this.commits = readCommits(snapshot, segment, header);
    if (this.commits.messageStarts[header.commits] !== text.header.textBytes)
      throw corrupt(this.#what);
    const { changes, forward } = this.#readChanges(snapshot);
    this.changes = changes;
    this.#forward = forward;
    this.lineStarts = this.#readLines(snapshot);
    const { bases, inverse } = this.#readGroups(snapshot);
    this.#groupBases = bases;
    this.#inverse = inverse;
  }

  /** The number of bytes of memory that the reader takes. */
  get bytes(): number {
    const { commits, changes, lines, lengths } = this.header;
    const names = 3 * (lengths[HISTORY.PEOPLE]! + lengths[HISTORY.PATHS]!);
    return 120 * commits + 24 * changes + 4.5 * lines + names + this.text.bytes;
  }

  get #what(): string {
    return `the history in segment ${this.segment}`;
  }

  #stream(snapshot: Snapshot, table: (typeof HISTORY)[keyof typeof HISTORY]): VarintReader {
    const length = this.header.lengths[table] ?? 0;
    return new VarintReader(readHistoryTable(snapshot, this.segment, table, length), this.#what);
  }

  #readChanges(snapshot: Snapshot): { changes: ChangeTable; forward: Units } {
    const { changes: count, paths: pathCount } = this.header;
    const from = this.#stream(snapshot, HISTORY.CHANGES);
    const commits = new Uint32Array(count);
    const paths = new Uint32Array(count);
    const oldPaths = new Uint32Array(count);
    const statuses = new Uint8Array(count);
    const binary = new Uint8Array(count);
    const kinds = new Uint8Array(count);
    const starts = new Uint32Array(count + 1);
    const { changeStarts } = this.commits;
    for (let change = 0, path = 0, commit = 0; change < count; change++) {
      while (changeStarts[commit + 1]! <= change) commit++;
      commits[change] = commit;
      path += from.signed();
      const flags = from.number();
      kinds[change] = from.number();
      const oldPath = flags & 2 ? path + from.signed() : path;
      if (!(path >= 0 && path < pathCount && oldPath >= 0 && oldPath < pathCount))
        throw corrupt(this.#what);
      [paths[change], oldPaths[change]] = [path, oldPath];
      binary[change] = flags & 1;
      statuses[change] = flags >>> 2;
      if (statuses[change]! >= STATUSES.length || kinds[change]! >= SIDE_KINDS.length ** 2)
        throw corrupt(this.#what);
      starts[change + 1] = starts[change]! + from.number();
    }
    from.end();
    return {
      changes: { commits, paths, oldPaths, statuses, binary, kinds },
      forward: new Units(starts),
    };
  }

  #readLines(snapshot: Snapshot): Uint32Array {
    const { lines, lineBytes } = this.header;
    const from = this.#stream(snapshot, HISTORY.LINES);
    const starts = new Uint32Array(lines + 1);
    for (let line = 0; line < lines; line++) starts[line + 1] = starts[line]! + from.number() + 1;
    from.end();
    if (starts[lines] !== lineBytes) throw corrupt(this.#what);
    return starts;
  }

  #readGroups(snapshot: Snapshot): { bases: Uint32Array; inverse: Units } {
    const groups = Math.ceil(this.header.lines / GROUP);
    const from = this.#stream(snapshot, HISTORY.GROUPS);
    const [bases, starts] = [new Uint32Array(groups), new Uint32Array(groups + 1)];
    for (let group = 0, base = 0; group < groups; group++) {
      bases[group] = base += from.signed();
      starts[group + 1] = starts[group]! + from.number();
    }
    from.end();
    return { bases, inverse: new Units(starts) };
  }

  commitId(commit: number): string {
    const { idBytes } = this.header;
    return Buffer.from(this.commits.ids.buffer, commit * idBytes, idBytes).toString("hex");
  }

  parentsOf(commit: number): string[] {
    const { idBytes } = this.header;
    const { parents, parentStarts } = this.commits;
    const [from, to] = [parentStarts[commit]!, parentStarts[commit + 1]!];
    return Array.from({ length: to - from }, (_, i) =>
      Buffer.from(parents.buffer, (from + i) * idBytes, idBytes).toString("hex"),
    );
  }

  isBoundary(commit: number): boolean {
    return (this.commits.flags[commit]! & COMMIT_FLAG.BOUNDARY) !== 0;
  }

  people(snapshot: Snapshot): readonly string[] {
    return (this.#people ??= this.#names(snapshot, HISTORY.PEOPLE, this.header.people, "utf8"));
  }

  /** Returns all paths, with one character for each byte. */
  paths(snapshot: Snapshot): readonly string[] {
    return (this.#paths ??= this.#names(snapshot, HISTORY.PATHS, this.header.paths, "latin1"));
  }

  #names(
    snapshot: Snapshot,
    table: typeof HISTORY.PEOPLE | typeof HISTORY.PATHS,
    count: number,
    encoding: "utf8" | "latin1",
  ): string[] {
    const from = this.#stream(snapshot, table);
    const names = Array.from({ length: count }, () =>
      Buffer.from(from.bytes(from.number())).toString(encoding),
    );
    from.end();
    return names;
  }

  /** Returns the message of a commit. */
  message(snapshot: Snapshot, commit: number): Uint8Array {
    const { messageStarts } = this.commits;
    return this.copyText(snapshot, messageStarts[commit]!, messageStarts[commit + 1]! - 1);
  }

  /** Returns a line, without its newline. */
  line(snapshot: Snapshot, line: number): Uint8Array {
    return this.copyText(snapshot, this.lineStarts[line]!, this.lineStarts[line + 1]! - 1);
  }

  copyText(snapshot: Snapshot, from: number, to: number): Uint8Array {
    const text = new Uint8Array(to - from);
    if (to > from) this.text.copyText(snapshot, from, to, text, 0);
    return text;
  }

  /**
   * Calls `visit` with each change that adds or removes one of the lines, and how often it does so. REQUIRES: `lines`
   * ascends.
   */
  forEachEvent(
    snapshot: Snapshot,
    lines: Uint32Array,
    visit: (place: number, change: number, added: number, removed: number) => void,
  ): void {
    const { changes } = this.header;
    let [value, first, end] = [-1, 0, 0];
    let bytes: Uint8Array = new Uint8Array(0);
    let start = 0;
    for (let place = 0; place < lines.length;) {
      const group = Math.floor(lines[place]! / GROUP);
      if (group >= end || group < first) {
        value = this.#inverse.valueOf(group);
        [first, end] = this.#inverse.range(value);
        const [from, to] = this.#inverse.extent(value);
        start = from;
        bytes = readHistoryValue(snapshot, this.segment, [HISTORY.INVERSE, value], to - from);
      }
      let at = this.#inverse.starts[group]! - start;
      let base = this.#groupBases[group]!;
      // a loop over bytes, because all lines of frequent terms are read here
      const number = (): number => {
        let byte = bytes[at++]!;
        if (byte < 0x80) return byte;
        let result = byte & 0x7f;
        for (let scale = 128; scale < 2 ** 40; scale *= 128) {
          byte = bytes[at++]!;
          result += (byte & 0x7f) * scale;
          if (byte < 0x80) return result;
        }
        throw corrupt(this.#what);
      };
      for (let line = group * GROUP; ; line++) {
        const isWanted = lines[place] === line;
        let [change, isFirst] = [base, true];
        for (let left = number(); left >= 0; left--) {
          const code = number();
          change += Math.floor(code / 8);
          let [added, removed] = [code & ADDED, (code & REMOVED) >>> 1];
          if (code & MANY) [added, removed] = [number(), number()];
          if (change >= changes) throw corrupt(this.#what);
          if (isWanted) visit(place, change, added, removed);
          if (isFirst) base = change;
          isFirst = false;
        }
        if (isWanted && ++place === lines.length) return;
        if (lines[place]! >= (group + 1) * GROUP) break;
      }
    }
  }

  /** Returns the runs of a change, in the order of the file. */
  runs(snapshot: Snapshot, change: number): Run[] {
    const value = this.#forward.valueOf(change);
    const [from, to] = this.#forward.extent(value);
    const bytes = readHistoryValue(snapshot, this.segment, [HISTORY.FORWARD, value], to - from);
    const unit = this.#forward.starts[change]! - from;
    const stream = new VarintReader(bytes, this.#what, unit);
    const runs: Run[] = [];
    let [oldLine, newLine, line] = [0, 0, 0];
    const take = (count: number): Uint32Array => {
      if (count > bytes.length) throw corrupt(this.#what);
      return Uint32Array.from({ length: count }, () => {
        const next = line + stream.signed();
        if (!(next >= 0 && next < this.header.lines)) throw corrupt(this.#what);
        line = next + 1;
        return next;
      });
    };
    for (let left = stream.number(); left > 0; left--) {
      oldLine += stream.signed();
      newLine += stream.signed();
      const [removed, added] = [stream.number(), stream.number()];
      runs.push({ oldLine, newLine, removed: take(removed), added: take(added) });
    }
    if (stream.at !== this.#forward.starts[change + 1]! - from) throw corrupt(this.#what);
    return runs;
  }
}

/** Opens a history segment. Returns undefined if the snapshot does not contain it. */
export function openHistorySegment(snapshot: Snapshot, segment: number): HistoryReader | undefined {
  const header = readHistoryHeader(snapshot, segment);
  if (!header) return undefined;
  const text = openSegment(snapshot, segment);
  if (!text) throw corrupt(`segment ${segment} is missing`);
  return new HistoryReader(snapshot, segment, header, text);
}
