/**
 * Defines peers: other search tools that answer the same questions over the same files, run as their users run them.
 */

import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import type { PeakMemory } from "./command.ts";
import type { PeerName } from "./peer-names.ts";
import type { Question } from "./queries.ts";

/** The files that all tools index: everything of up to 2 MiB except .git, whatever ignore files say. */
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
  /** What the tool counts: matches, or lines with a match. */
  readonly unit: "matches" | "lines";
}

export interface Peer {
  readonly name: PeerName;
  readonly version: string;
  /** How it is run, for the record. */
  readonly method: string;
  /** Undefined if the tool has no index. */
  readonly index: IndexFigures | undefined;
  /** Returns the question in the tool's own words, or undefined if the tool cannot answer it. */
  words(question: Question): readonly string[] | undefined;
  /** Counts every match. */
  count(words: readonly string[]): Promise<Count>;
  /** Resolves to the milliseconds until the first 50 matches, or until the end. */
  first(words: readonly string[]): Promise<number>;
  /** Resolves to the counts by path, in the unit of count(). Not timed. */
  perFile(words: readonly string[]): Promise<Map<string, number>>;
  /** Returns why the tool has another count for this file, or undefined if no reason is known. */
  excuse(file: SuspectFile, question: Question): string | undefined;
  /** The peak memory of its server so far, if it has one. */
  peak?(): PeakMemory;
  close(): Promise<void>;
}

/** A file that quern and the peer count differently. */
export interface SuspectFile {
  readonly path: string;
  readonly isLink: boolean;
  /** The content, or for a symbolic link the name of its target. */
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
