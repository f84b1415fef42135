/**
 * Bundles what runs apart from the caller when quern is used from its sources: build/worker.js, the
 * threads' entry, and build/check.js, the process that checks an index.
 */

import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const entryPoints = [path("src/worker.ts"), path("src/check.ts")];

await build({
  entryPoints,
  outdir: path("build"),
  bundle: true,
  packages: "external",
  platform: "node",
  format: "esm",
  target: "node20",
  sourcemap: true, // in a file of its own: within the code it takes each thread 16 ms to read
  logLevel: "warning",
});
