/**
 * Installs a tarball of the package into an empty project, as a host does, and runs the tests' host program there, with
 * the project in both module systems: `npx tsx scripts/install-package.ts quern.tgz`. The tests link this repository's
 * dependencies, so only this script uses those that package.json requests. If the registry cannot be reached, it says
 * so and tries nothing; with QUERN_CI=1 that is an error.
 */

import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { FOUND, hostScript, type ModuleSystem } from "../test/package/host.ts";
import { installIn, isNoNetwork } from "./installing.ts";
import { isStrict } from "./nodes.ts";

const run = promisify(execFile);

async function tryIn(cwd: string, type: ModuleSystem): Promise<void> {
  const manifest = JSON.parse(readFileSync(join(cwd, "package.json"), "utf8")) as object;
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ ...manifest, type }));
  rmSync(join(cwd, "index"), { recursive: true, force: true });
  const { file, text } = hostScript(type);
  writeFileSync(join(cwd, file), text);
  const { stdout, stderr } = await run(process.execPath, [file], { cwd, timeout: 60_000 });
  if (stderr !== "" || stdout.trim() !== JSON.stringify(FOUND))
    throw new Error(`the host of ${type} said ${stdout}${stderr}`);
  console.log(`   works in an empty project (${type})`);
}

const [, , path] = process.argv;
if (path === undefined) throw new Error("which tarball?");
const folder = mkdtempSync(join(tmpdir(), "quern-install-"));
try {
  await installIn(folder, resolve(path));
  for (const type of ["module", "commonjs"] as const) await tryIn(folder, type);
} catch (error) {
  if (isStrict || !isNoNetwork(error)) throw error;
  console.log(`   the registry cannot be reached, so it is not tried: ${String(error)}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
