/** The arithmetic of ranking, row by row; how it ranks real files is in ranking.test.ts. */

import { expect, test } from "vitest";
import {
  bestPathFit,
  languageScore,
  pathFit,
  scoreOf,
  WEIGHTS,
} from "../../src/search/thread/ranking/score.ts";
import { FILE_FLAG } from "../../src/store/format/format.ts";

test.each<[path: string, text: string, fit: number]>([
  ["src/queue.ts", "queue", 4],
  ["src/queue.ts", "queue.ts", 4],
  ["queue", "queue", 4],
  ["src/task_queue.ts", "queue", 3],
  ["src/queue_test.ts", "queue", 3],
  ["src/my_queue_test.ts", "queue", 2],
  ["src/index.ts", "ts", 2],
  ["queue/index.ts", "queue", 1],
  ["queue/index.ts", "queue/index", 1],
  ["queue/queue.ts", "queue", 4],
  ["a/x.queue.ts", "queue", 2],
  ["src/index.ts", "queue", 0],
  [".queue", "queue", 3],
  ["q", "queue", 0],
])("%s fits %s: %d", (path, text, fit) => {
  expect(pathFit(path, text)).toBe(fit);
  const at = path.lastIndexOf(text);
  if (at < 0 || fit === 1) return;
  const pairs = Uint32Array.of(at, at + text.length);
  expect(bestPathFit(Buffer.from(path), pairs)).toBe(fit);
});

test("of several ranges in a path the best one counts", () => {
  const path = Buffer.from("queue/my_queue.ts");
  expect(bestPathFit(path, Uint32Array.of(0, 5, 9, 14))).toBe(3);
  expect(bestPathFit(path, Uint32Array.of(0, 5))).toBe(1);
});

const PLAIN = { fit: 1000, count: 1, flags: 0, language: 0, rank: 0, distance: -1 };

test.each<[what: string, change: Partial<typeof PLAIN>, by: number]>([
  ["nothing", {}, 0],
  ["ten matches", { count: 10 }, WEIGHTS.matches],
  ["a million matches", { count: 1e6 }, WEIGHTS.mostMatches],
  ["a test", { flags: FILE_FLAG.TEST }, WEIGHTS.test],
  ["vendored, generated", { flags: 6 }, WEIGHTS.vendored + WEIGHTS.generated],
  ["prose", { language: languageScore("Markdown") }, WEIGHTS.prose],
  ["settings", { language: languageScore("YAML") }, WEIGHTS.data],
  ["code", { language: languageScore("Go") }, 0],
  ["no language", { language: languageScore("") }, 0],
  ["a repository of rank 1", { rank: 1 }, WEIGHTS.rank],
  ["terms side by side", { distance: 0 }, WEIGHTS.together],
  ["terms with 16 bytes between them", { distance: WEIGHTS.nearby }, WEIGHTS.together / 2],
  ["terms far apart", { distance: Infinity }, 0],
])("%s changes a score by its weight", (_, change, by) => {
  expect(scoreOf({ ...PLAIN, ...change }) - scoreOf(PLAIN)).toBe(by);
});
