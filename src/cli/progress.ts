/** One line on the terminal that tells how far a long write is; nothing in a pipe. */

import type { IndexProgress } from "../ingest/run/report.ts";
import type { Io } from "./io.ts";
import { bytes, visible } from "./style.ts";

const EVERY_MS = 100;
const WORDS: Readonly<Record<IndexProgress["stage"], string>> = {
  list: "listing",
  content: "reading",
  symbols: "symbols",
  publish: "publishing",
  merge: "merging",
};

export interface ProgressLine {
  readonly onProgress: (progress: IndexProgress) => void;
  /** Before anything else is written. */
  readonly clear: () => void;
}

export function progressLine({ stderr }: Io): ProgressLine {
  if (!stderr.isTTY) return { onProgress: () => {}, clear: () => {} };
  let shownAt = -Infinity;
  let isShown = false;
  return {
    onProgress(progress) {
      const now = performance.now();
      if (now - shownAt < EVERY_MS) return;
      shownAt = now;
      isShown = true;
      stderr.write(`\r\x1b[K${describe(progress).slice(0, (stderr.columns || 80) - 1)}`);
    },
    clear() {
      if (isShown) stderr.write("\r\x1b[K");
      isShown = false;
    },
  };
}

function describe(progress: IndexProgress): string {
  const { repository, stage, done, total } = progress;
  const files = total > 0 ? `${done}/${total}` : String(done);
  const size =
    stage === "content" ? `, ${bytes(progress.bytes)} of ${bytes(progress.totalBytes)}` : "";
  const whose = repository === "" ? "" : `${visible(repository)}: `; // some stages are of the whole run
  return `${whose}${WORDS[stage]} ${files}${size}`;
}
