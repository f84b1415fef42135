/** Bundles a worker's entry to plain JavaScript: workers have no loader of TypeScript. */

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

export async function bundle(name: string): Promise<URL> {
  const outfile = join(mkdtempSync(join(tmpdir(), "quern-threads-")), "bundle.mjs");
  await build({
    entryPoints: [fileURLToPath(new URL(name, import.meta.url))],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
  });
  return pathToFileURL(outfile);
}
