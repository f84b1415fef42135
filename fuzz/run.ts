/**
 *     npx tsx fuzz/run.ts TARGET [--seconds N] [--seed N] [--cases N] [--files FOLDER]...
 *
 * `--files`: real files, for the target that changes such.
 * Goes on until it is stopped, or finds something: then it prints the case's number and its input and
 * ends with 1. The kernel must have been built. What was found becomes a file in fuzz/seeds/TARGET.
 */

import { parseArgs } from "node:util";
import { fuzz, seedsOf, showFailure } from "./fuzz.ts";
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
  const result = await fuzz(target, seedsOf(name), { seed, cases, until, onCase });
  watchdog.end();
  if (typeof result !== "number") {
    console.error(showFailure(name, result));
    return 1;
  }
  console.log(`${name}: ${result} cases from seed ${seed}, nothing found`);
  if (target.summary) console.log(target.summary());
  return 0;
}

process.exit(await main());
