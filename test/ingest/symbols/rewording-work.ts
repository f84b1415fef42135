/** Measures the time of the rules of newer syntax on a text that repeats a piece. */

import type { LanguageQuery } from "../../../src/ingest/symbols/queries/shared/language.ts";
import { reword } from "../../../src/ingest/symbols/queries/shared/rewording.ts";

const BYTES = 50_000;

/**
 * The limit of milliseconds for such a text. Measured: up to 9. A rule that tries each place with each length takes
 * 180 to 340.
 */
export const MOST_WORK_MS = 40;

/** Returns milliseconds of processor time, the least of two runs. */
export function workOnRepeated(piece: string, query: LanguageQuery): number {
  const bytes = Buffer.alloc(Math.max(BYTES, 2 * piece.length), piece, "latin1");
  const works = [0, 1].map(() => {
    const before = process.cpuUsage();
    reword(bytes, query);
    return process.cpuUsage(before).user / 1000;
  });
  return Math.min(...works);
}
