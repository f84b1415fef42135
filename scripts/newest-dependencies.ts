/**
 * Runs the tests against the newest versions that the ranges of package.json admit, because `npm ci` tests those of the
 * lock file, and hosts install the newest: `npx tsx scripts/newest-dependencies.ts [TEST…]`. Works in a copy of the
 * repository, and changes nothing in it. Prints which packages differ from the lock file. The exit code is that of the
 * tests. Meant to be run every week. Needs the registry.
 */

import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** These tests compare files of packages with a listing, which another version of a package may change. */
const LISTED = "test/search/ranking-packages.test.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const copy = mkdtempSync(join(tmpdir(), "quern-newest-"));

/** Maps each direct dependency to the version that a lock file has. */
function versionsIn(folder: string): Map<string, string> {
  const text = readFileSync(join(folder, "package-lock.json"), "utf8");
  const { packages } = JSON.parse(text) as {
    packages: Readonly<Record<string, { version: string; dependencies?: object }>>;
  };
  return new Map(
    Object.keys(packages[""]!.dependencies!).map((name) => [
      name,
      packages[`node_modules/${name}`]!.version,
    ]),
  );
}

try {
  execFileSync("git", ["clone", "-q", "--no-hardlinks", root, copy], { stdio: "inherit" });
  const locked = versionsIn(copy);
  rmSync(join(copy, "package-lock.json"));
  const install = ["install", "--no-audit", "--no-fund", "--prefer-online"];
  execFileSync("npm", install, { cwd: copy, stdio: "inherit" });
  for (const [name, version] of versionsIn(copy))
    console.log(
      `${name}: ${version}${version === locked.get(name) ? "" : `, locked ${locked.get(name)}`}`,
    );
  const tests = ["vitest", "run", "--exclude", LISTED, ...process.argv.slice(2)];
  process.exitCode = spawnSync("npx", tests, { cwd: copy, stdio: "inherit" }).status ?? 1;
} finally {
  rmSync(copy, { recursive: true, force: true });
}
