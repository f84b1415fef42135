/** Numbers the lines of a hunk in the old and in the new file, and limits how much of a diff is shown. */

import type { Diff, Hunk } from "../wire/answers.ts";

export interface DiffLine {
  kind: "added" | "removed" | "same";
  /** The 1-based number of the line in the old file. Undefined if the old file does not have the line. */
  old?: number;
  /** The same for the new file. */
  new?: number;
  text: string;
}

/** The maximum number of characters of a line that are shown. */
export const LINE_CHARACTERS = 1_000;
/** The maximum number of lines of a diff that are shown. A long line counts as several, and a file counts as one. */
const MOST_LINES = 5_000;
const CHARACTERS_A_LINE = 200;

/** Returns the beginning of a diff. A long diff is cut, because a commit may change a million lines. */
export function beginningOfDiff(diff: readonly Diff[]): {
  readonly files: { readonly file: Diff; readonly hunks: DiffLine[][] }[];
  readonly isCut: boolean;
} {
  let left = MOST_LINES;
  const files = [];
  for (const file of diff) {
    if (left-- <= 0) break;
    const hunks: DiffLine[][] = [];
    for (const hunk of file.hunks) {
      const all = diffLines(hunk, Math.max(0, left) + 3); // a hunk may have a line about a missing newline
      const end = all.findIndex(({ text }) => (left -= costOf(text)) < 0);
      hunks.push(end < 0 ? all : all.slice(0, end));
      if (end >= 0) break;
    }
    files.push({ file, hunks });
  }
  return { files, isCut: left < 0 };
}

const costOf = (text: string): number =>
  Math.max(1, Math.ceil(Math.min(text.length, LINE_CHARACTERS) / CHARACTERS_A_LINE));

/** Returns the first `most` lines of a hunk, with their numbers. */
export function diffLines({ oldRange, newRange, body }: Hunk, most = Infinity): DiffLine[] {
  const lines: DiffLine[] = [];
  let [old, now] = [oldRange.start, newRange.start];
  const whole = body.endsWith("\n") ? body.slice(0, -1) : body;
  for (const line of whole.split("\n", Math.min(most, 2 ** 32 - 1))) {
    const text = line.slice(1);
    if (line.startsWith("+")) lines.push({ kind: "added", new: now++, text });
    else if (line.startsWith("-")) lines.push({ kind: "removed", old: old++, text });
    else if (!line.startsWith("\\")) lines.push({ kind: "same", old: old++, new: now++, text }); // \ No newline at end of file
  }
  return lines;
}
