/**
 * Measures how time, size and memory grow with the number of repositories. These are generated, and the same on every
 * machine.
 */

import { join } from "node:path";
import { sizeOnDisk } from "./command.ts";
import { MEBIBYTE } from "./index-stage.ts";
import { startSubject, type Subject } from "./quern.ts";
import type { GrowthFigures, ManyFigures } from "./record.ts";
import { spreadOf, THOROUGH, type Spread } from "./statistics.ts";

const OPTIONS = { workers: 2, memoryBudget: 256 * MEBIBYTE };
const BYTES_EACH = 1_000_000;

/**
 * Indexes `repositories` repositories of 1 MB each in one call of index(), and searches for a word that only one of
 * them has.
 */
export async function measureMany(folder: string, repositories: number): Promise<ManyFigures> {
  const subject = await startSubject();
  await subject.do("open", { path: join(folder, "quern-many"), ...OPTIONS });
  const seconds = await indexGenerated(subject, repositories);
  const { anonymousBytes } = subject.peak();
  const rare = await askWord(subject, `needle_${repositories >> 1}_`, 1);
  await subject.end();
  return { repositories, bytesEach: BYTES_EACH, seconds, anonymousBytes, rare };
}

/** Measures 1, 2, 4 and 8 times as many repositories of 1 MB. */
export async function measureGrowth(
  folder: string,
  repositories: number,
): Promise<GrowthFigures[]> {
  const figures: GrowthFigures[] = [];
  for (const factor of [1, 2, 4, 8]) {
    const path = join(folder, `quern-growth-${factor}`);
    const subject = await startSubject();
    await subject.do("open", { path, ...OPTIONS });
    const seconds = await indexGenerated(subject, factor * repositories);
    const { anonymousBytes } = subject.peak();
    const rare = await askWord(subject, "needle_1_", 1);
    const frequent = await askWord(subject, "repository");
    const contentBytes = await subject.do("contentBytes", {});
    await subject.end();
    figures.push({
      factor,
      contentBytes,
      seconds,
      anonymousBytes,
      bytes: sizeOnDisk(path),
      rare,
      frequent,
    });
  }
  return figures;
}

async function indexGenerated(subject: Subject, repositories: number): Promise<number> {
  const source = { kind: "generated", repositories, bytesEach: BYTES_EACH } as const;
  return (await subject.do("index", { source, symbols: false })).ms / 1000;
}

async function askWord(subject: Subject, query: string, expected?: number): Promise<Spread> {
  const request = { query, matches: 50 };
  const { times, matches } = await subject.do("ask", { request, patience: THOROUGH });
  if (expected !== undefined && matches !== expected)
    throw new Error(`${query}: ${matches} matches, expected ${expected}`);
  return spreadOf(times);
}
