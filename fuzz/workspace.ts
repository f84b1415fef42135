/**
 * Fuzzes a followed folder. Files, folders and branches change, notices are lost, and searches run in between. No
 * answer may differ from reading every file. An input is the list of steps, as JSON.
 */

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWith } from "../src/opened-engine.ts";
import { randomFrom, type Random } from "../test/regex/random.ts";
import {
  BRANCHES,
  KINDS,
  notices,
  takeAll,
  type Interleaving,
  type Step,
} from "../test/workspace/interleaving.ts";
import type { Target } from "./target.ts";

const NAMES = ["a", "b", "c", "d.txt", "e.py"];
const TEXTS = ["needle", "hay", "needle needle\n", "def needle(): pass\n", "", "needle\0"];
/** One case in this many has a repository, because each call of git takes as long as all other steps of a case. */
const GIT = 8;
const MOST_STEPS = 24;

export async function openWorkspaceTarget(): Promise<Target> {
  const home = mkdtempSync(join(tmpdir(), "quern-fuzz-"));
  process.on("exit", () => rmSync(home, { recursive: true, force: true }));
  const engine = await openWith(join(home, "index"), { workers: 0 }, { notices });
  return {
    make,
    async check(input) {
      const given = JSON.parse(input.toString()) as Interleaving;
      const random = randomFrom(input.length);
      const root = join(home, "tree");
      mkdirSync(root);
      await takeAll(given, { engine, root, random: () => random(1000) / 1000 });
    },
  };
}

function make(random: Random): Buffer {
  const kind = pick(random, Object.keys(KINDS));
  const hasGit = random(GIT) === 0;
  const steps = Array.from({ length: 4 + random(MOST_STEPS) }, () => stepOf(random, hasGit));
  return Buffer.from(JSON.stringify({ notices: kind, steps } satisfies Interleaving));
}

const pick = <T>(random: Random, from: readonly T[]): T => from[random(from.length)]!;

const pathOf = (random: Random): string =>
  Array.from({ length: 1 + random(3) }, () => pick(random, NAMES)).join("/");

function stepOf(random: Random, hasGit: boolean): Step {
  if (hasGit && random(6) === 0)
    return pick<Step>(random, [
      { kind: "checkout", branch: pick(random, BRANCHES) },
      { kind: "stash" },
      { kind: "unstash" },
    ]);
  return pick(random, STEPS)(random);
}

/** Each kind of step is chosen as often as it occurs here. */
const STEPS: readonly ((random: Random) => Step)[] = [
  ...Array.from({ length: 3 }, () => (random: Random): Step => {
    return { kind: "write", path: pathOf(random), text: pick(random, TEXTS) };
  }),
  (random) => ({ kind: pick(random, ["remove", "touch", "folder"]), path: pathOf(random) }),
  (random) => ({ kind: "remove", path: pathOf(random) }),
  (random) => ({ kind: "move", path: pathOf(random), to: pathOf(random) }),
  (random) => ({ kind: "move", path: pathOf(random), to: pathOf(random) }),
  (random) => {
    const text = random(3) === 0 ? undefined : pick(random, TEXTS);
    return { kind: "unsaved", path: pathOf(random), text };
  },
  () => ({ kind: "search" }),
  () => ({ kind: "search" }),
  () => ({ kind: "ask" }),
  (random) => ({ kind: pick(random, ["answer", "turn", "turn", "settle"]) }),
];
