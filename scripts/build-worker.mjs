/** Bundles src/worker.ts to build/worker.js: what worker threads run when quern is used from its sources. */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const entry = fileURLToPath(new URL("../src/worker.ts", import.meta.url));

if (existsSync(entry))
  await build({
    entryPoints: [entry],
    outfile: fileURLToPath(new URL("../build/worker.js", import.meta.url)),
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20",
    sourcemap: "inline",
    logLevel: "warning",
  });
