/** Builds dist/ from scratch, so that no chunk of an earlier build is packed. */

import { execFileSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "tsup";

const root = fileURLToPath(new URL("..", import.meta.url));
process.chdir(root); // tsup looks for its configuration there

rmSync("dist", { recursive: true, force: true });
await build({});

// bundling the declarations again for CommonJS takes 5 s, and only the names of the files differ
for (const name of readdirSync("dist").filter((file) => file.endsWith(".d.ts"))) {
  const declarations = readFileSync(`dist/${name}`, "utf8");
  const named = declarations.replaceAll(/(["']\.\/[\w.-]+)\.js(["'])/g, "$1.cjs$2");
  writeFileSync(`dist/${name.replace(/ts$/, "cts")}`, named);
}

// the tests use those in build/
for (const script of ["scripts/build-page.mjs", "scripts/build-token-table.mjs"])
  execFileSync(process.execPath, [script], { stdio: "inherit" });
execFileSync(process.execPath, ["--import", "tsx", "scripts/build-wasm.ts"], { stdio: "inherit" });
for (const name of ["page", "token-table.br", "wasm"])
  cpSync(`build/${name}`, `dist/${name}`, { recursive: true });

// in CommonJS, a private field with the name of an export of its chunk becomes the export
for (const name of readdirSync("dist").filter((file) => file.endsWith(".cjs"))) {
  const [found] = /#\w+ = exports\.\w+/.exec(readFileSync(`dist/${name}`, "utf8")) ?? [];
  if (found) throw new Error(`dist/${name} has "${found}": rename the private field`);
}

// imported as a host would import it, so that the published code makes the schema
const { syncConfigSchema } = await import(new URL("../dist/sync.js", import.meta.url).href);
writeFileSync("dist/quern.schema.json", `${JSON.stringify(syncConfigSchema(), null, 2)}\n`);
