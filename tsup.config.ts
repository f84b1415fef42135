/**
 * dist/, flat: `new URL("./worker.js", import.meta.url)` must hold in every file of it.
 *
 * What entries share is split into chunks, in CommonJS too: a QuernError of `quern` must be an
 * instance of the class that `quern/http` knows. The worker is an ES module for both formats.
 */

import { defineConfig, type Options } from "tsup";

const library = { index: "src/index.ts", http: "src/http/index.ts", testing: "src/testing.ts" };
const common: Options = {
  outDir: "dist",
  target: "node20",
  platform: "node",
  splitting: true,
  removeNodeProtocol: false,
  silent: true,
};

export default defineConfig([
  {
    ...common,
    format: "esm",
    entry: { ...library, worker: "src/worker.ts", check: "src/check.ts", cli: "src/cli/bin.ts" },
  },
  { ...common, format: "cjs", entry: library, shims: true },
  { ...common, format: ["esm", "cjs"], entry: library, dts: { only: true } },
]);
