/**
 * Bundles what runs outside the calling thread when quern is used from its sources: build/worker.js, the entry of the
 * threads, and build/check.js, the process that checks an index.
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
  sourcemap: true, // in a separate file, because within the code it would take each thread 16 ms to read
  logLevel: "warning",
});
