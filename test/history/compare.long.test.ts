/** Compares histories with git itself. `node --import tsx scripts/compare-history.ts` does the same for real clones. */

import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { git as source, type History } from "../../src/index.ts";
import { openEngine } from "../engine/opened.ts";
import { RUNS } from "../runs.ts";
import { tempFolder } from "../ingest/listing.ts";
import { compareHistory } from "./compare.ts";
import { awkwardHistory, drawFrom, makeRepository, randomHistory } from "./generated.ts";
import { git } from "./twins.ts";

const SEED = Number(process.env["QUERN_SEED"] ?? Date.now() % 1_000_000);

async function historyOf(folder: string): Promise<History> {
  const engine = await openEngine();
  await engine.index(source(folder, { name: "made" }), { symbols: "skip" });
  return (await engine.history("made"))!;
}

/** Compares a history with git. If that fails, prints the seed. */
async function compare(folder: string, seed: number, rounds: number): Promise<void> {
  onTestFinished(({ task }) => {
    if (task.result?.state === "fail") console.error(`QUERN_SEED=${seed}`);
  });
  const history = await historyOf(folder);
  const count = await compareHistory({ history, folder, draw: drawFrom(seed) }, rounds);
  expect(count).toBeGreaterThan(0);
}

test("a history with every awkward kind of content equals git's", async () => {
  await compare(makeRepository(awkwardHistory(), tempFolder()), SEED, 2 * RUNS);
});

test("the history of a bare clone without a configuration equals git's", async () => {
  const folder = makeRepository(awkwardHistory().slice(0, 8), tempFolder());
  rmSync(join(folder, "config"));
  const { authors } = await (await historyOf(folder)).authors();
  expect(authors.map(({ name }) => name)).toContain("Ada Lovelace"); // by the .mailmap of HEAD
  await compare(folder, SEED, 4);
});

test("random histories equal git's", async () => {
  for (let seed = SEED; seed < SEED + RUNS; seed++) {
    const draw = drawFrom(seed);
    await compare(makeRepository(randomHistory(draw, 5 + draw(60)), tempFolder()), seed, 5);
  }
});

test("the history of a shallow clone equals git's", async () => {
  const whole = makeRepository(randomHistory(drawFrom(SEED), 40), tempFolder());
  const folder = join(tempFolder(), "shallow.git");
  const options = ["--quiet", "--bare", "--depth=5", "--no-single-branch"];
  execFileSync("git", ["clone", ...options, `file://${whole}`, folder]);
  expect(git(folder, "rev-parse", "--is-shallow-repository").toString()).toBe("true\n");
  await compare(folder, SEED, 4);
});

test("the history of a work tree whose attributes say where functions begin equals git's", async () => {
  const folder = join(tempFolder(), "clone");
  const made = makeRepository(awkwardHistory().slice(0, 8), tempFolder());
  execFileSync("git", ["clone", "--quiet", made, folder]);
  await compare(folder, SEED, 4);
});
