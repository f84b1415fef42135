/** Other search tools, asked the same questions over the same files, the way their users run them. */

import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import type { PeakMemory } from "./command.ts";
import type { PeerName } from "./peer-names.ts";
import type { Question } from "./queries.ts";

/** The files that all tools index: everything up to 2 MiB, whatever ignore files say, but .git. */
export interface Corpus {
  readonly name: string;
  readonly path: string; // absolute
}

export interface IndexFigures extends PeakMemory {
  readonly seconds: number;
  readonly bytes: number; // on disk
}

export interface Count {
  readonly matches: number;
  /** What the tool counts: matches, or lines that hold one. */
  readonly unit: "matches" | "lines";
}

export interface Peer {
  readonly name: PeerName;
  readonly version: string;
  /** How it is asked, for the record. */
  readonly method: string;
  /** undefined: this tool has no index. */
  readonly index: IndexFigures | undefined;
  /** Its own words for the question, undefined where it cannot ask it. */
  words(question: Question): readonly string[] | undefined;
  /** Every match counted. */
  count(words: readonly string[]): Promise<Count>;
  /** Milliseconds to its first 50 matches, or to its end. */
  first(words: readonly string[]): Promise<number>;
  /** Counts per path, in count()'s unit, however many. Not timed. */
  perFile(words: readonly string[]): Promise<Map<string, number>>;
  /** Why the tool counts this file otherwise; undefined: no reason is known. */
  excuse(file: SuspectFile, question: Question): string | undefined;
  close(): Promise<void>;
}

/** A file that quern and the peer count differently. */
export interface SuspectFile {
  readonly path: string;
  readonly isLink: boolean;
  /** Of a symbolic link the name of its target. */
  readonly bytes: Buffer;
  /** Quern's count, in the peer's unit. */
  readonly ours: number;
  readonly theirs: number;
}

export function suspectAt(
  corpus: Corpus,
  counted: Pick<SuspectFile, "path" | "ours" | "theirs">,
): SuspectFile {
  const path = join(corpus.path, counted.path);
  const isLink = lstatSync(path).isSymbolicLink();
  const bytes = isLink ? readlinkSync(path, { encoding: "buffer" }) : readFileSync(path);
  return { ...counted, isLink, bytes };
}
