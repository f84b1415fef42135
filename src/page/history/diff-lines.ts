/** Numbers the lines of a hunk on both sides. */

import type { Hunk } from "../wire/answers.ts";

export interface DiffLine {
  kind: "added" | "removed" | "same";
  /** 1-based; absent on the side that lacks the line. */
  old?: number;
  new?: number;
  text: string;
}

export function diffLines({ oldRange, newRange, body }: Hunk): DiffLine[] {
  const lines: DiffLine[] = [];
  let [old, now] = [oldRange.start, newRange.start];
  for (const line of body.replace(/\n$/, "").split("\n")) {
    const text = line.slice(1);
    if (line.startsWith("+")) lines.push({ kind: "added", new: now++, text });
    else if (line.startsWith("-")) lines.push({ kind: "removed", old: old++, text });
    else if (!line.startsWith("\\")) lines.push({ kind: "same", old: old++, new: now++, text }); // \ No newline at end of file
  }
  return lines;
}
