import { expect, test } from "vitest";
import { progressLine } from "../../src/cli/progress.ts";
import type { IndexProgress } from "../../src/index.ts";

/** Returns the line that is shown if each step arrives at its time in milliseconds, or at once. */
function shown(columns: number, ...given: (Partial<IndexProgress> & { at?: number })[]): string {
  let clock = 0;
  let text = "";
  const output = {
    isTTY: true,
    columns,
    write: (added: string | Uint8Array) => (text += String(added)),
  };
  const io = { stdout: output, stderr: output, env: {}, signal: new AbortController().signal };
  const { onProgress, clear } = progressLine(io, { next: "symbols", now: () => clock });
  const nothing = {
    repository: "shop",
    stage: "list",
    done: 0,
    total: 0,
    bytes: 0,
    totalBytes: 0,
  } as const;
  for (const { at = 0, ...progress } of given) {
    clock = at;
    onProgress({ ...nothing, ...progress });
  }
  clear();
  return text.replaceAll("\r\x1b[K", "|");
}

test.each<[string, Partial<IndexProgress>, string]>([
  ["a list", { done: 12 }, "|shop: listing 12|"],
  [
    "content that is read",
    { stage: "content", done: 1, total: 3, bytes: 2000, totalBytes: 9000 },
    "|shop: reading 1/3, 2.0 KB of 9.0 KB so far|",
  ],
  [
    "a stage of the whole run",
    { repository: "", stage: "merge", done: 1, total: 3 },
    "|merging 1/3|",
  ],
  [
    "symbols, once the content can be searched",
    { repository: "", stage: "symbols", done: 1, total: 3, bytes: 500, totalBytes: 1000 },
    "quern: searchable now; symbols of 3 files follow\n|symbols █████░░░░░  50%  500 bytes of 1.0 KB|",
  ],
  ["a name that would move the cursor", { repository: "\x1b[2J", done: 1 }, "|␛[2J: listing 1|"],
])("shows %s", (_, progress, line) => expect(shown(80, progress)).toBe(line));

test("only a total that no longer grows has a bar, with speed and time left", () => {
  const reading = { stage: "content", done: 1, total: 9 } as const;
  const lines = shown(
    80,
    { ...reading, bytes: 1000, totalBytes: 2000 },
    { ...reading, at: 900, bytes: 2000, totalBytes: 9000 },
    { ...reading, at: 2_000, bytes: 3000, totalBytes: 9000 },
  );
  expect(lines.split("|")).toEqual([
    "",
    "shop: reading 1/9, 1.0 KB of 2.0 KB so far",
    "shop: reading 1/9, 2.0 KB of 9.0 KB so far",
    "shop: reading ███░░░░░░░  33%  3.0 KB of 9.0 KB, 1.0 KB/s, 6.0 s left + symbols",
    "",
  ]);
});

test("the line fits the terminal, if its width is known", () => {
  expect(shown(10, { done: 1 })).toBe("|shop: lis|");
  expect(shown(0, { done: 1 })).toBe("|shop: listing 1|");
});

test("steps that arrive at once are shown once", () => {
  expect(shown(80, { done: 1 }, { done: 2 }, { done: 3 })).toBe("|shop: listing 1|");
});

test("nothing is cleared if nothing was shown", () => expect(shown(80)).toBe(""));
