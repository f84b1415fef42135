import { expect, test } from "vitest";
import { progressLine } from "../../src/cli/progress.ts";
import type { IndexProgress } from "../../src/index.ts";

function shown(columns: number, ...given: Partial<IndexProgress>[]): string {
  let text = "";
  const output = {
    isTTY: true,
    columns,
    write: (added: string | Uint8Array) => (text += String(added)),
  };
  const { onProgress, clear } = progressLine({
    stdout: output,
    stderr: output,
    env: {},
    signal: new AbortController().signal,
  });
  const nothing = {
    repository: "shop",
    stage: "list",
    done: 0,
    total: 0,
    bytes: 0,
    totalBytes: 0,
  } as const;
  for (const progress of given) onProgress({ ...nothing, ...progress });
  clear();
  return text.replaceAll("\r\x1b[K", "|");
}

test.each<[string, Partial<IndexProgress>, string]>([
  ["listing", { done: 12 }, "|shop: listing 12|"],
  [
    "reading",
    { stage: "content", done: 1, total: 3, bytes: 2000, totalBytes: 9000 },
    "|shop: reading 1/3, 2.0 KB of 9.0 KB|",
  ],
  ["of the whole run", { repository: "", stage: "symbols", done: 1, total: 3 }, "|symbols 1/3|"],
  ["a name that would move the cursor", { repository: "\x1b[2J", done: 1 }, "|␛[2J: listing 1|"],
])("%s", (_, progress, line) => expect(shown(80, progress)).toBe(line));

test("the line fits the terminal, and a terminal that does not tell its width", () => {
  expect(shown(10, { done: 1 })).toBe("|shop: lis|");
  expect(shown(0, { done: 1 })).toBe("|shop: listing 1|");
});

test("what comes at once is shown once", () => {
  expect(shown(80, { done: 1 }, { done: 2 }, { done: 3 })).toBe("|shop: listing 1|");
});

test("nothing shown is nothing to clear", () => expect(shown(80)).toBe(""));
