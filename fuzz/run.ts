/**
 *     npx tsx fuzz/run.ts TARGET [--seconds N] [--seed N] [--cases N] [--files FOLDER]... [--keep-going]
 *
 * `--files` names real files, for the target that changes files.
 * Runs until it is stopped or finds a failure. Then it prints the case's number and input and exits with 1. With
 * `--keep-going` it counts failures instead. The kernel must have been built. Each finding becomes a file in
 * fuzz/seeds/TARGET.
 */

import { parseArgs } from "node:util";
import { fuzz, seedsOf, describeFailure } from "./fuzz.ts";
import { TARGETS, TARGET_NAMES, type TargetName } from "./targets.ts";
import { startWatchdog } from "./watchdog.ts";

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seconds: { type: "string", default: "Infinity" },
      seed: { type: "string", default: String(Date.now() % 1e9) },
      cases: { type: "string", default: "Infinity" },
      files: { type: "string", multiple: true, default: [] },
      "keep-going": { type: "boolean", default: false },
    },
  });
  const [name] = positionals;
  if (name === undefined || !(name in TARGETS)) {
    console.error(`which target? ${TARGET_NAMES.join(", ")}`);
    return 2;
  }
  const [seed, cases] = [Number(values.seed), Number(values.cases)];
  const target = await TARGETS[name as TargetName](values.files);
  const watchdog = startWatchdog(name);
  let told = performance.now();
  const onCase = (at: number) => {
    watchdog.at(at);
    if (performance.now() - told < 10_000) return;
    told = performance.now();
    console.log(`seed ${at}: ${at - seed} cases, nothing found`);
  };
  const until = performance.now() + 1000 * Number(values.seconds);
  const end = seed + cases;
  let [next, failures] = [seed, 0];
  let seeds = seedsOf(name);
  for (;;) {
    const limits = { seed: next, cases: end - next, until, onCase };
    const result = await fuzz(target, seeds, limits);
    if (typeof result === "number") {
      next += result;
      break;
    }
    failures++;
    seeds = []; // these cases come first, and only once
    console.error(describeFailure(name, result));
    if (!values["keep-going"]) break;
    next = Number.isNaN(result.seed) ? next : result.seed + 1;
  }
  watchdog.end();
  if (failures > 0 && !values["keep-going"]) return 1;
  console.log(`${name}: ${next - seed} cases from seed ${seed}, ${failures || "nothing"} found`);
  if (target.summary) console.log(target.summary());
  return failures > 0 ? 1 : 0;
}

process.exit(await main());
