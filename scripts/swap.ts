/**
 * Replaces folders by symlinks while they are indexed, and counts the files outside the folder that are found: npx tsx
 * scripts/swap.ts [--seconds 60]. Build the kernel first. Fails if any such file is found.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { attack, MODES } from "../test/security/swapping.ts";

const { values } = parseArgs({ options: { seconds: { type: "string", default: "60" } } });

for (const mode of MODES) {
  const base = mkdtempSync(join(tmpdir(), "quern-swap-"));
  const { runs, met, isExchange, leaks } = await attack(base, mode, 1000 * Number(values.seconds));
  rmSync(base, { recursive: true, force: true });
  const how = isExchange ? "renameat2" : "two renames";
  console.log(`${mode}: ${runs} runs, ${met} met the exchange (${how}), ${leaks.length} leaks`);
  for (const leak of new Set(leaks)) console.log(`  ${leak}`);
  if (leaks.length > 0) process.exitCode = 1;
}
