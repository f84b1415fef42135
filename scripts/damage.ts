/**
 * Changes bits of an index's data file or truncates it, 500 times, and counts what happens in processes that open it:
 * npx tsx scripts/damage.ts [--times 500] [--seed N]. Build the kernel first. Fails if a stored value was damaged and
 * the answer is neither right nor what docs/robustness.md promises. Prints the damage that caused each wrong answer.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { bundle } from "../test/engine/crash/bundle.ts";
import { damageOf, makeTarget, tryDamage, type Damage } from "../test/engine/crash/damage.ts";
import { brokenPromise, isUntold, placeOf } from "../test/engine/crash/promises.ts";

const { values } = parseArgs({
  options: {
    times: { type: "string", default: "500" },
    seed: { type: "string", default: `${Date.now() % 1e6}` },
  },
});

async function main(): Promise<void> {
  const bundled = await bundle("writer-process", "damage-process");
  const folder = mkdtempSync(join(tmpdir(), "quern-damage-"));
  let state = Number(values.seed);
  const random = () => (state = (state * 48_271 + 11) % 2_147_483_647) / 2_147_483_647;
  const counts = new Map<string, number>();
  let [broken, untold] = [0, 0];
  try {
    const target = await makeTarget(bundled, folder);
    for (let i = 0; i < Number(values.times); i++) {
      const damage: Damage = damageOf(target, random);
      const trial = await tryDamage(bundled, { target, damage, folder });
      const line = `${placeOf(damage)}: ${trial.outcome}, check: ${trial.check}`;
      counts.set(line, (counts.get(line) ?? 0) + 1);
      const promise = brokenPromise(damage, trial);
      if (promise !== undefined) broken++;
      if (isUntold(damage, trial)) untold++;
      if (promise !== undefined || isUntold(damage, trial) || trial.outcome === "hangs")
        console.log(
          `${damage.what} (${placeOf(damage)}), ${promise ?? "check() does not know"}`,
          [...trial.wrong, ...trial.words].join("\n  "),
        );
    }
  } finally {
    bundled.remove();
    rmSync(folder, { recursive: true });
  }
  for (const [line, count] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1)))
    console.log(`${count}\t${line}`);
  console.log(`seed ${values.seed}: ${broken} broken promises, ${untold} in LMDB's pages untold`);
  if (broken > 0) process.exitCode = 1;
}

await main();
