/**
 * Makes the word lists of every segment that has none, or that has lists of older stems. Each segment is published by
 * itself, so a run that is killed continues with the next segment.
 */

import { contentOf } from "../../store/catalog/manifest.ts";
import type { Catalog } from "../../store/catalog/catalog.ts";
import type { Environment } from "../../store/lmdb/environment.ts";
import { isCorrupt } from "../../store/format/sealed.ts";
import { checkLease } from "../../store/lmdb/lease.ts";
import { allVersions } from "../../store/words/word-lists.ts";
import type { Pool } from "../../threads/pool.ts";
import { STEMS_VERSION } from "../../words/stems.ts";
import type { IndexProgress } from "../run/report.ts";
import type { WordsInput } from "./words-task.ts";

export interface WordsPass {
  readonly environment: Environment;
  readonly pool: Pool;
  readonly memoryBudget: number;
  readonly catalog: Catalog;
  /** The owner of the write lease. */
  readonly owner: string;
  readonly throwIfStopped: () => void;
  readonly onProgress: (progress: IndexProgress) => void;
  readonly onWarning: (warning: { code: string; message: string }) => void;
}

/** The memory that a thread takes for the words of a segment of the greatest size. */
const TABLE_BYTES = 96 * 2 ** 20;

/** Makes all missing word lists. REQUIRES: the lease is held. */
export async function indexWords(pass: WordsPass): Promise<void> {
  const { pool, memoryBudget, catalog, owner, throwIfStopped } = pass;
  const pending = new Map<number, number>();
  for (const one of catalog.manifest.segments)
    if (one.words !== STEMS_VERSION) pending.set(contentOf(one), one.textBytes);
  if (pending.size === 0) return;
  await deleteOldLists(pass, [...pending.keys()]);
  const report = progressOf(pass, pending);
  const left = [...pending];
  const lanes = Math.min(pool.lanes, Math.max(1, Math.floor(memoryBudget / TABLE_BYTES)));
  const work = async (): Promise<void> => {
    for (let next = left.pop(); next; next = left.pop()) {
      throwIfStopped();
      const [segment, bytes] = next;
      const input: WordsInput = { segment, version: STEMS_VERSION, owner };
      try {
        await pool.run<void>("ingest.words", input, { lane: "ingest" });
      } catch (error) {
        if (!isCorrupt(error)) throw error;
        const message = `segment ${segment}: find() leaves out its files, because their text is damaged; run check()`;
        pass.onWarning({ code: "INDEX_CORRUPT", message });
      }
      report(bytes);
    }
  };
  await Promise.all(Array.from({ length: lanes }, work));
}

/** Deletes lists of older stems, and those that an interrupted run has left. */
async function deleteOldLists(
  { environment, owner }: WordsPass,
  segments: readonly number[],
): Promise<void> {
  const snapshot = environment.snapshot();
  let keys: Buffer[];
  try {
    keys = segments.flatMap((segment) => [...snapshot.keys(allVersions(segment))]);
  } finally {
    snapshot.close();
  }
  if (keys.length === 0) return;
  await environment.write((writer) => {
    checkLease(writer, owner);
    for (const key of keys) writer.remove(key);
  });
}

function progressOf({ onProgress }: WordsPass, pending: ReadonlyMap<number, number>) {
  const totalBytes = [...pending.values()].reduce((sum, each) => sum + each, 0);
  let [done, bytes] = [0, 0];
  const report = () =>
    onProgress({ repository: "", stage: "words", done, total: pending.size, bytes, totalBytes });
  report();
  return (more: number): void => {
    done++;
    bytes += more;
    report();
  };
}
