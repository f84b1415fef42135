/** A stranger's expressions, over many repositories whose names are as long as possible. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { watchStalls } from "../../bench/stall.ts";
import type { Engine } from "../../src/engine.ts";
import { open } from "../../src/opened-engine.ts";
import { documents } from "../../src/ingest/sources/documents.ts";
import { tellFigure } from "../figures.ts";
import { SLOWNESS } from "../slowness.ts";
import { someOf } from "../runs.ts";

const REPOSITORIES = 1_000;
const path = mkdtempSync(join(tmpdir(), "quern-names-"));
beforeAll(async () => {
  await using engine = await open(path, { workers: 0 });
  const sources = Array.from({ length: REPOSITORIES }, (_, i) =>
    documents({ name: nameOf(i), files: [{ path: "a.txt", content: "x\n" }] }),
  );
  await engine.index(sources, { symbols: "skip" });
});
afterAll(() => rmSync(path, { recursive: true, force: true, maxRetries: 3 }));

const nameOf = (i: number): string => `${"ab/".repeat(160)}${i}`;

/** `#` is replaced, so that no try reuses the states or the answers of another. */
const EXPRESSIONS = [
  "repo:([a-z]?[a-z/]?){500}#",
  "repo:(a|b|/)*#",
  "repo:(a?){400}b#",
  "repo:((ab|ba|/a)*.?){40}#",
  "repo:[a-z]{1,200}#",
  "repo:(.*a.*b.*a.*b){8}#",
  "repo:.{250,400}#",
  "-repo:(.*b){90}#$ x",
  // so long that another thread tests the names, if there is one
  `repo:(${"(.*a.*b)".repeat(10)}){40}#`,
  `repo:(${"([ab]{1,5}/?.?)".repeat(8)}){20}#`,
  `repo:(${".*[a-b]{20}/".repeat(20)}){3}#`,
];

/** The limit of milliseconds of processor time in one turn. The documented limit is 5, but this machine may be slow. */
const MOST_MS = 8 * SLOWNESS;
/** A shared machine may be slow for seconds, so this measures until a turn was short once. */
const TRIES = 25;

/** The same limit without workers: a slice of 4 ms, and a step. */
const MOST_INLINE_MS = 10 * SLOWNESS;

describe.runIf(process.platform === "linux").each([
  { workers: 1, most: MOST_MS },
  { workers: 0, most: MOST_INLINE_MS },
])("an expression over long names, $workers workers", ({ workers, most }) => {
  let engine: Engine;
  afterAll(() => engine.close());
  beforeAll(async () => {
    engine = await open(path, { workers });
    await engine.search({ query: "hello repo:r", matches: 1 });
  });

  test.each(someOf(EXPRESSIONS, 3))("%s", async (expression) => {
    let turn = Infinity;
    for (let left = TRIES; left > 0 && turn > most; left--) {
      const query = expression.replace("#", `${left}`);
      const stalls = watchStalls();
      await engine.search({ query, matches: 1 });
      turn = Math.min(turn, (await stalls()).ownMs);
    }
    tellFigure(`${turn.toFixed(1)} ms a turn`);
    expect(turn).toBeLessThan(most);
  });
});
