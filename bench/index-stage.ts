/** Measures the time, size and memory of quern and its peers when they index the corpus. */

import { join } from "node:path";
import { sizeOnDisk } from "./command.ts";
import type { Corpus, Peer } from "./peer.ts";
import { startSubject } from "./quern.ts";
import type { IndexingFigures } from "./record.ts";

export const MEBIBYTE = 1 << 20;

export interface IndexRun {
  readonly workers: number;
  readonly symbols: boolean;
  readonly memoryBudget: number;
}

export const KEPT: IndexRun = { workers: 2, symbols: true, memoryBudget: 256 * MEBIBYTE };

export const INDEX_RUNS: readonly IndexRun[] = [
  { workers: 2, symbols: false, memoryBudget: 256 * MEBIBYTE },
  { workers: 1, symbols: false, memoryBudget: 256 * MEBIBYTE },
  { workers: 2, symbols: false, memoryBudget: 64 * MEBIBYTE },
  { workers: 2, symbols: false, memoryBudget: 1024 * MEBIBYTE },
];

/** Indexes the corpus into a new data directory. */
export async function indexCorpus(
  corpus: Corpus,
  path: string,
  run: IndexRun,
): Promise<IndexingFigures> {
  const { workers, memoryBudget, symbols } = run;
  const subject = await startSubject();
  await subject.do("open", { path, workers, memoryBudget });
  const source = { kind: "directory", path: corpus.path, name: corpus.name } as const;
  const { ms, stall } = await subject.do("index", { source, symbols });
  const peak = subject.peak();
  await subject.end();
  return { who: "quern", ...run, seconds: ms / 1000, bytes: sizeOnDisk(path), ...peak, stall };
}

export function peerIndexing(peer: Peer, symbols: boolean): IndexingFigures[] {
  return peer.index ? [{ who: peer.name, symbols, ...peer.index }] : [];
}

export const dataFolder = (folder: string, { workers, symbols, memoryBudget }: IndexRun) =>
  join(folder, `quern-${workers}-${memoryBudget / MEBIBYTE}${symbols ? "-symbols" : ""}`);
