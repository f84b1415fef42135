/** Builds dist/ anew: no chunk of an earlier build may be packed. */

import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "tsup";

const root = fileURLToPath(new URL("..", import.meta.url));
process.chdir(root); // tsup looks for its configuration there

rmSync("dist", { recursive: true, force: true });
await build({});
const run = (script, target) =>
  execFileSync(process.execPath, [script, target], { stdio: "inherit" });
run("scripts/build-page.mjs", "dist/page");
run("scripts/build-token-table.mjs", "dist/token-table.br");

// imported as a host would: what is published is what checks
const { syncConfigSchema } = await import(new URL("../dist/sync.js", import.meta.url).href);
writeFileSync("dist/quern.schema.json", `${JSON.stringify(syncConfigSchema(), null, 2)}\n`);
