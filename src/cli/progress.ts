/**
 * Shows the progress of an index run or a compaction in one line on a terminal. Without a terminal, shows nothing.
 *
 *     shop: reading ████░░░░░░  41%  12 MB of 29 MB, 5.1 MB/s, 4 s left + symbols
 *
 * The total grows while a source is listed, so the bar appears only when the total has not changed for a second. The
 * remaining time of a stage is estimated from the speed of that stage. How long the symbol stage takes depends on the
 * languages, so this stage is only announced before it begins.
 */

import type { IndexProgress } from "../ingest/run/report.ts";
import type { Io } from "./io.ts";
import { bytes, count, duration, visible } from "./style.ts";

const EVERY_MS = 100;
/** The time without growth after which the total counts as complete. */
const SETTLED_MS = 1_000;
const BAR = 10;
const WORDS: Readonly<Record<IndexProgress["stage"], string>> = {
  list: "listing",
  content: "reading",
  symbols: "symbols",
  words: "words",
  history: "history",
  publish: "publishing",
  merge: "merging",
};

export interface ProgressLine {
  readonly onProgress: (progress: IndexProgress) => void;
  /** Clears the line before other output. */
  readonly clear: () => void;
}

/**
 * Creates a progress line. `next` is the name of the stage that follows the stage `content`. `now` returns
 * milliseconds.
 */
export function progressLine(
  { stderr }: Io,
  { next = "", now = () => performance.now() }: { next?: string; now?: () => number } = {},
): ProgressLine {
  if (!stderr.isTTY) return { onProgress: () => {}, clear: () => {} };
  let shownAt = -Infinity;
  let isShown = false;
  let stage: Stage | undefined;
  const clear = (): void => {
    if (isShown) stderr.write("\r\x1b[K");
    isShown = false;
  };
  return {
    onProgress(progress) {
      const at = now();
      if (stage?.name !== progress.stage) {
        if (progress.stage === "symbols") {
          clear();
          stderr.write(
            `quern: searchable now; symbols of ${count(progress.total, "file")} follow\n`,
          );
        }
        stage = {
          name: progress.stage,
          startedAt: at,
          from: progress.bytes,
          total: -1,
          settledAt: at,
        };
      }
      if (stage.total !== progress.totalBytes)
        stage = { ...stage, total: progress.totalBytes, settledAt: at };
      if (at - shownAt < EVERY_MS) return;
      shownAt = at;
      isShown = true;
      stderr.write(
        `\r\x1b[K${describe(progress, stage, { at, next }).slice(0, (stderr.columns || 80) - 1)}`,
      );
    },
    clear,
  };
}

interface Stage {
  readonly name: IndexProgress["stage"];
  readonly startedAt: number;
  /** The number of bytes that were done when the stage began. */
  readonly from: number;
  /** The total in bytes, and the time when it last changed. */
  readonly total: number;
  readonly settledAt: number;
}

function describe(
  progress: IndexProgress,
  stage: Stage,
  { at, next }: { at: number; next: string },
): string {
  const { repository, done, total, bytes: doneBytes, totalBytes } = progress;
  const whose = repository === "" ? "" : `${visible(repository)}: `; // some stages belong to the whole run
  const words = `${whose}${WORDS[progress.stage]}`;
  const files = total > 0 ? `${done}/${total}` : String(done);
  if (progress.stage === "list" || totalBytes === 0) return `${words} ${files}`;
  const isWhole = progress.stage !== "content" || at - stage.settledAt >= SETTLED_MS;
  const size = `${bytes(doneBytes)} of ${bytes(totalBytes)}`;
  if (!isWhole) return `${words} ${files}, ${size} so far`;
  const share = Math.min(1, doneBytes / totalBytes);
  const full = Math.round(share * BAR);
  const bar = "█".repeat(full) + "░".repeat(BAR - full);
  const percent = `${Math.floor(share * 100)}%`.padStart(4);
  const then = progress.stage === "content" && next !== "" ? ` + ${next}` : "";
  return `${words} ${bar} ${percent}  ${[size, ...speed(progress, stage, at)].join(", ")}${then}`;
}

/** Returns the speed and the remaining time, or an empty list while they cannot be estimated yet. */
function speed({ bytes: done, totalBytes }: IndexProgress, stage: Stage, at: number): string[] {
  const seconds = (at - stage.startedAt) / 1000;
  const perSecond = (done - stage.from) / seconds;
  if (seconds < 1 || !(perSecond > 0)) return [];
  return [`${bytes(perSecond)}/s`, `${duration(((totalBytes - done) / perSecond) * 1000)} left`];
}
