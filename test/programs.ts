/**
 * Bundles programs that tests start in separate processes. tsx would compile all
 * sources again in each process, which takes a second of processor time.
 */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { build, type Plugin } from "esbuild";

/** Files that quern looks for in the folder of its code. test/setup.ts builds them. */
const FILES_NEXT_TO_CODE = ["worker.js", "check.js", "page", "token-table.br", "wasm"];

const { compilerOptions } = JSON.parse(readFileSync("examples/tsconfig.json", "utf8")) as {
  compilerOptions: { paths: Readonly<Record<string, readonly [string]>> };
};

/** Resolves the names of quern and its entries as examples/tsconfig.json does. */
const ownNames: Plugin = {
  name: "own names",
  setup: (esbuild) =>
    esbuild.onResolve({ filter: /^quern(?:\/|$)/ }, ({ path }) => {
      const source = compilerOptions.paths[path]?.[0];
      return source === undefined ? undefined : { path: resolve("examples", source) };
    }),
};

/**
 * Bundles TypeScript files of a host or of a test, which may import quern by its names. Resolves to the path of each
 * bundle. The bundles are deleted when this process ends.
 */
export async function bundledPrograms(files: readonly string[]): Promise<string[]> {
  mkdirSync("build", { recursive: true });
  const outdir = mkdtempSync(resolve("build/programs-")); // a folder in which packages of this project are found
  process.once("exit", () => rmSync(outdir, { recursive: true, force: true }));
  for (const name of FILES_NEXT_TO_CODE) symlinkSync(resolve("build", name), join(outdir, name));
  await build({
    entryPoints: Object.fromEntries(files.map((file, n) => [`program-${n}`, resolve(file)])),
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    packages: "external",
    plugins: [ownNames],
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "error",
  });
  return files.map((_, n) => join(outdir, `program-${n}.mjs`));
}
