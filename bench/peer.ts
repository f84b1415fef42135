/** Other search tools, asked the same questions over the same files, the way their users run them. */

import type { Question } from "./queries.ts";

export const PEER_NAMES = ["rg", "csearch", "zoekt"] as const;
export type PeerName = (typeof PEER_NAMES)[number];

/** The files that all tools index: everything up to 2 MiB, whatever ignore files say, but .git. */
export interface Corpus {
  readonly name: string;
  readonly path: string; // absolute
}

export interface IndexFigures {
  readonly seconds: number;
  readonly bytes: number; // on disk
  readonly peakBytes: number | undefined; // resident, undefined where the system does not tell
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
  /** Its answer up to the first 50 matches. */
  first(words: readonly string[]): Promise<void>;
  /** Counts per path, in count()'s unit. Not timed. REQUIRES: at most mostPerFile matches. */
  perFile(words: readonly string[]): Promise<Map<string, number>>;
  readonly mostPerFile: number;
  /** Why the tool counts this file otherwise; undefined: no reason is known. */
  excuse(file: SuspectFile, question: Question): string | undefined;
  close(): Promise<void>;
}

export interface SuspectFile {
  readonly path: string;
  readonly bytes: Buffer;
}
