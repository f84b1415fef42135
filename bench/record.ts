/**
 * Defines the record of a benchmark run: all its figures. bench/record/ contains records as JSON, and the page is made
 * of them.
 */

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import type { ClusterFigures } from "./cluster-figures.ts";
import type { Machine } from "./machine.ts";
import type { IndexFigures } from "./peer.ts";
import type { PeerName } from "./peer-names.ts";
import type { Stall } from "./stall.ts";
import type { Spread } from "./statistics.ts";
import type { WorkspaceFigures, WorkTreeFigures } from "./workspace-figures.ts";

export interface Record {
  readonly at: string; // ISO date and time
  readonly machine: Machine;
  readonly corpus: CorpusFigures;
  readonly method: readonly string[];
  readonly indexing: readonly IndexingFigures[];
  readonly questions: readonly QuestionFigures[];
  readonly engine: EngineFigures;
  readonly many?: ManyFigures;
  readonly growth: readonly GrowthFigures[];
  readonly workspaces?: readonly WorkspaceFigures[];
  readonly workTrees?: WorkTreeFigures;
  readonly cluster?: ClusterFigures;
  readonly budgets: readonly Verdict[];
  /** Counts that differ from a peer's for no known reason, and stages that could not be measured. */
  readonly failures: readonly string[];
}

export interface CorpusFigures {
  readonly name: string;
  /** The number of files, of at most 2 MiB each. */
  readonly files: number;
  readonly bytes: number;
}

export interface IndexingFigures extends IndexFigures {
  readonly who: "quern" | PeerName;
  /** For quern: the number of workers. */
  readonly workers?: number;
  readonly memoryBudget?: number; // bytes
  readonly symbols: boolean;
  /** For quern: the longest stall of the run. */
  readonly stall?: Stall;
}

export interface QuestionFigures {
  readonly name: string;
  readonly group: string;
  readonly query: string;
  readonly matches: number;
  readonly files: number;
  readonly contentBytes: number; // read for one answer
  readonly quern: QuernTimes;
  readonly peers: Readonly<Partial<globalThis.Record<PeerName, PeerFigures>>>;
}

/** Times by the number of workers. */
export interface QuernTimes {
  readonly one: Spread;
  readonly two: Spread;
  readonly firstChunk: Spread;
}

export interface PeerFigures {
  readonly words: string;
  /** The time until every match is counted. */
  readonly count: Spread;
  /** The time until the first 50 matches. */
  readonly first: Spread;
  readonly matches: number;
  readonly unit: "matches" | "lines";
  /** "equal", or the reason why the counts differ. */
  readonly agreement: string;
  readonly isExplained: boolean;
}

export interface EngineFigures {
  readonly open?: Spread;
  readonly updateDocuments?: Spread;
  readonly updateGit?: Spread;
  readonly searchAnonymousBytes?: number | undefined; // the peak
  /** The maximum resident bytes of each searching process, including mapped files. */
  readonly searchResidentBytes?:
    | Readonly<Partial<globalThis.Record<"quern" | "zoekt", number | undefined>>>
    | undefined;
  /** The median of the longest stalls of several searches with 100 000 matches in one answer. */
  readonly searchStall?: Stall;
  readonly contentBytes?: number;
}

export interface ManyFigures {
  readonly repositories: number;
  readonly bytesEach: number;
  readonly seconds: number;
  /** The maximum memory during indexing, in the process that also generates the content. */
  readonly anonymousBytes: number | undefined;
  readonly rare: Spread;
}

export interface GrowthFigures {
  readonly factor: number;
  readonly contentBytes: number;
  readonly seconds: number;
  /** The maximum memory during indexing, in the process that also generates the content. */
  readonly anonymousBytes: number | undefined;
  readonly bytes: number;
  readonly rare: Spread;
  readonly frequent: Spread;
}

export interface Verdict {
  readonly what: string;
  readonly budget: string;
  /** Undefined if it was not measured in this run. */
  readonly figure: string | undefined;
  readonly isMet: boolean | undefined;
}

const folder = new URL("record/", import.meta.url);

export function writeRecord(record: Record): string {
  mkdirSync(folder, { recursive: true });
  const name = `${record.at.slice(0, 10)}-${record.corpus.name}.json`;
  writeFileSync(new URL(name, folder), `${JSON.stringify(record, null, 1)}\n`);
  return `bench/record/${name}`;
}

/** Returns the newest record of each corpus, sorted by the name of the corpus. */
export function newestRecords(): Record[] {
  mkdirSync(folder, { recursive: true });
  const newest = new Map<string, Record>();
  for (const name of readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .toSorted()) {
    const record = JSON.parse(readFileSync(new URL(name, folder), "utf8")) as Record;
    newest.set(record.corpus.name, record);
  }
  return [...newest.values()].toSorted((a, b) => b.corpus.bytes - a.corpus.bytes);
}
