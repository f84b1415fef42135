/** Profiles searches of a warm engine on one thread, and assigns each function to a stage. */

import { Session, type Profiler } from "node:inspector/promises";
import { fileURLToPath } from "node:url";
import type { Question } from "../bench/queries.ts";
import type { Engine } from "../src/index.ts";

/** The time for which each question is asked before it is profiled, and then again while it is profiled. */
const WARM_MS = 1500;
const PROFILE_MS = 1000;
const LEAST_RUNS = 3;
const INTERVAL_US = 100;

export const STAGES = ["caller", "planning", "fetching", "scanning", "ranking", "showing"] as const;
export type Stage = (typeof STAGES)[number];

/**
 * The stages of folders and files of `src`. The first pattern that matches counts. A file that matches none belongs to
 * its caller's stage.
 */
const PLACES: readonly (readonly [RegExp, Stage])[] = [
  [/^search\/thread\/reading\/window|^store\/segments\/segment-reader/, "fetching"],
  [/^search\/thread\/planning|^store\/segments\/posting/, "planning"],
  [/^search\/thread\/scanning|^search\/thread\/reading|^regex/, "scanning"],
  [/^search\/thread\/ranking/, "ranking"],
  [/^search\/thread\/show|^re2/, "showing"],
  [/^search\/thread/, "scanning"],
  [
    /^(search\/caller|search\/messages|search\/meaning|query|overlay|store\/catalog|[a-z-]+\.ts)/,
    "caller",
  ],
];

const ROOT = new URL("../src/", import.meta.url);

export function stageOf(url: string): Stage | undefined {
  if (!url.startsWith(ROOT.href) && !url.startsWith(fileURLToPath(ROOT))) return undefined;
  const place = url.replace(ROOT.href, "").replace(fileURLToPath(ROOT), "");
  return PLACES.find(([pattern]) => pattern.test(place))?.[1];
}

export interface SearchProfile {
  readonly samples: Profiler.Profile;
  /** How many searches were profiled. */
  readonly runs: number;
  /** The processor time of one search, in milliseconds. */
  readonly ms: number;
  readonly matches: number;
}

export async function profileSearch(engine: Engine, question: Question): Promise<SearchProfile> {
  const request = {
    query: question.query,
    matches: 50,
    isRegexEnabled: question.isRegex,
    isCaseSensitivityEnabled: question.isCaseSensitive,
  };
  let matches = 0;
  const ask = async (forMs: number): Promise<number> => {
    const began = performance.now();
    let runs = 0;
    for (; runs < LEAST_RUNS || performance.now() - began < forMs; runs++)
      matches = (await engine.search(request)).stats.totalMatchCount;
    return runs;
  };
  await ask(WARM_MS);
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.setSamplingInterval", { interval: INTERVAL_US });
  await session.post("Profiler.start");
  const began = process.cpuUsage();
  const runs = await ask(PROFILE_MS);
  const { user, system } = process.cpuUsage(began);
  const { profile: samples } = await session.post("Profiler.stop");
  session.disconnect();
  return { samples, runs, ms: (user + system) / 1000 / runs, matches };
}
