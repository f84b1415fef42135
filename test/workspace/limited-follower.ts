/**
 * Follows the given folder, changes a file in each of its folders, and prints what searches missed. It runs in a
 * process whose system has fewer watches than there are folders.
 */

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "../../src/opened-engine.ts";

const root = process.argv[2]!;
const path = mkdtempSync(join(tmpdir(), "quern-limited-"));
const engine = await open(path, { workers: 0 });
const warnings: string[] = [];
const tree = await engine.workspace(root, { onWarning: ({ code }) => void warnings.push(code) });
const { followed } = tree.state();
const folders = readdirSync(root, { withFileTypes: true }).filter((one) => one.isDirectory());
const missed: string[] = [];
for (const [i, { name }] of folders.entries()) {
  writeFileSync(join(root, name, "x.txt"), `changed_${i}_\n`);
  const { stats } = await tree.search({ query: `changed_${i}_`, matches: 0 });
  if (stats.fileCount !== 1) missed.push(name);
}
await engine.close();
rmSync(path, { recursive: true, force: true });
console.log(JSON.stringify({ followed, warnings, missed }));
