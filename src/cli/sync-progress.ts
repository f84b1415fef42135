/**
 * Shows the progress of a sync run in one line on a terminal. If a host asks quern to wait, a message is printed even
 * without a terminal, because nothing else may happen for an hour.
 */

import type { SyncProgress } from "../sync/report.ts";
import type { Io } from "./io.ts";
import { progressLine } from "./progress.ts";
import { duration, visible } from "./style.ts";

export interface SyncProgressLine {
  readonly onProgress: (progress: SyncProgress) => void;
  /** Clears the line before other output. */
  readonly clear: () => void;
}

const EVERY_MS = 100;

export function syncProgressLine(io: Io): SyncProgressLine {
  const { stderr } = io;
  const indexing = progressLine(io);
  let wanted = 0;
  let finished = 0;
  let shownAt = -Infinity;
  let isShown = false;
  const clear = (): void => {
    indexing.clear();
    if (isShown) stderr.write("\r\x1b[K");
    isShown = false;
  };
  const show = (what: string): void => {
    if (!stderr.isTTY || performance.now() - shownAt < EVERY_MS) return;
    shownAt = performance.now();
    isShown = true;
    const line = visible(`${finished} of ${wanted}: ${what}`);
    stderr.write(`\r\x1b[K${line.slice(0, (stderr.columns || 80) - 1)}`);
  };
  const onProgress = (progress: SyncProgress): void => {
    switch (progress.kind) {
      case "listed":
        wanted += progress.wanted;
        return show(`${progress.connection} is listed`);
      case "fetching":
        return show(`${progress.repository}: ${progress.line}`);
      case "repository":
        finished++;
        return show(`${progress.repository.name}: ${progress.repository.outcome}`);
      case "indexing":
        return indexing.onProgress(progress.progress);
      case "waiting":
        clear();
        stderr.write(
          `quern: ${visible(progress.connection)}: ${progress.host} wants a pause of ${duration(progress.waitMs)}\n`,
        );
    }
  };
  return { onProgress, clear };
}
