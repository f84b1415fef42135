/**
 * Runs all random tests and all fuzz targets for hours, with another seed each time:
 *
 *     npx tsx scripts/random-tests.ts [--minutes 120] [--until 12:10] [--seed N] [--record FILE]
 *
 * A unit is a few test files, or one fuzz target. Units run one after another, the tests of a folder beside those of
 * others, until the time is over; a unit that runs then is stopped. A line for each unit goes to FILE
 * (build/random-tests.jsonl by default): its seed, files, outcome and seconds. The output of a unit that fails is in
 * the same folder. `QUERN_SEED=N QUERN_ROWS=0 npx vitest run FILE` repeats a unit's cases. The exit code is 1 if
 * anything was found. Start it from a clone of its own, because tests read the files that you change:
 *
 *     nice -n 19 taskset -c 1 npx tsx scripts/random-tests.ts
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { TARGET_NAMES } from "../fuzz/targets.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "120" },
    until: { type: "string" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    record: { type: "string", default: "build/random-tests.jsonl" },
  },
});

/** Files of one call of vitest, which takes some seconds to build what tests need. */
const FILES_A_UNIT = 12;
const FUZZ_SECONDS = 30;

interface Unit {
  readonly name: string;
  readonly command: (seed: number) => readonly string[];
}

const end =
  values.until === undefined ? Date.now() + Number(values.minutes) * 60_000 : today(values.until);
const units = testUnits().flatMap((unit, i) => {
  const target = TARGET_NAMES[i % TARGET_NAMES.length]!;
  return [unit, fuzzUnit(target)];
});
mkdirSync(dirname(values.record), { recursive: true });

let [seed, ran, found] = [Number(values.seed), 0, 0];
for (; Date.now() < end; seed++, ran++) {
  const unit = units[ran % units.length]!;
  const start = Date.now();
  const { outcome, output } = await runUnit(unit, seed);
  const seconds = Math.round((Date.now() - start) / 1000);
  if (outcome === "failed") {
    found++;
    writeFileSync(join(dirname(values.record), `random-tests-${seed}.log`), output);
  }
  const line = { at: new Date(start).toISOString(), seed, unit: unit.name, outcome, seconds };
  appendFileSync(values.record, `${JSON.stringify(line)}\n`);
  console.log(`${outcome} ${unit.name}, seed ${seed}, ${seconds} s`);
}
console.log(`${ran} units, seeds ${values.seed} to ${seed - 1}, ${found || "nothing"} found`);
process.exit(found > 0 ? 1 : 0);

/** The next time at which a clock shows `time`, for instance 12:10. */
function today(time: string): number {
  const [hours = 0, minutes = 0] = time.split(":").map(Number);
  const at = new Date();
  at.setHours(hours, minutes, 0, 0);
  return at.getTime();
}

/** Every file with random cases. Neighbours in the list are in different units, so that each unit has all folders. */
function testUnits(): Unit[] {
  const files = readdirSync("test", { recursive: true, encoding: "utf8" })
    .map((name) => `test/${name.replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith(".test.ts") && isRandom(path))
    .toSorted();
  const count = Math.ceil(files.length / FILES_A_UNIT);
  return Array.from({ length: count }, (_, unit) => {
    const own = files.filter((_, i) => i % count === unit);
    return {
      name: own.join(" "),
      command: () => ["node_modules/vitest/vitest.mjs", "run", ...own],
    };
  });
}

/** Whether a test file, or what it imports from outside src/, draws cases from a seed. */
function isRandom(path: string, seen = new Set<string>()): boolean {
  if (seen.has(path) || path.startsWith("src/") || !existsSync(path)) return false;
  seen.add(path);
  const text = readFileSync(path, "utf8");
  if (/from "fast-check"|\btestSeed\b|"QUERN_SEED"/.test(text)) return true;
  return [...text.matchAll(/"(\.[^"\n]*\.ts)"/g)].some(([, name]) =>
    isRandom(join(dirname(path), name!).replaceAll("\\", "/"), seen),
  );
}

function fuzzUnit(target: string): Unit {
  const command = (from: number): string[] =>
    `--import tsx fuzz/run.ts ${target} --seconds ${FUZZ_SECONDS} --seed ${from * 1_000_000}`.split(
      " ",
    );
  return { name: `fuzz ${target}`, command };
}

/** Runs a unit in a process group of its own, so that all its processes can be stopped at the end. */
async function runUnit(unit: Unit, from: number): Promise<{ outcome: string; output: string }> {
  const env = { ...process.env, QUERN_SEED: String(from), QUERN_ROWS: String(from % 12) };
  const child = spawn(process.execPath, unit.command(from), { env, detached: true });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => void (output += text));
  let isOver = false;
  const timer = setTimeout(
    () => {
      isOver = true;
      process.kill(-child.pid!, "SIGTERM");
      setTimeout(() => child.exitCode ?? process.kill(-child.pid!, "SIGKILL"), 10_000).unref();
    },
    Math.max(0, end - Date.now()),
  );
  const [code] = (await once(child, "close")) as [number | null];
  clearTimeout(timer);
  return { outcome: isOver ? "stopped" : code === 0 ? "passed" : "failed", output };
}
