/**
 * dist/, flat: `new URL("./worker.js", import.meta.url)` must hold in every file of it.
 *
 * What entries share is split into chunks, in CommonJS too: a QuernError of `quern` must be an
 * instance of the class that `quern/http` knows. The worker is an ES module for both formats.
 *
 * Every file begins with the import of src/refuse-bundling.ts, added as a banner, because esbuild does not keep
 * the order in which chunks are evaluated. `sideEffects` of package.json names it, or else bundlers drop it.
 */

import { defineConfig, type Options } from "tsup";

const library = {
  index: "src/index.ts",
  http: "src/http/index.ts",
  mcp: "src/mcp/index.ts",
  cluster: "src/cluster/index.ts",
  sync: "src/sync/index.ts",
  testing: "src/testing.ts",
};
const refuseBundling: Options["banner"] = ({ format }) => ({
  js: `import "./refuse-bundling.${format === "cjs" ? "cjs" : "js"}";`, // tsup makes require() of it
});
const common: Options = {
  outDir: "dist",
  target: "node20",
  platform: "node",
  splitting: true,
  removeNodeProtocol: false,
  silent: true,
};
const commonJs: Options = {
  ...common,
  format: "cjs",
  define: { "import.meta.url": "importMetaUrl" },
  inject: ["scripts/import-meta-url.js"],
};

export default defineConfig([
  {
    ...common,
    format: "esm",
    entry: { ...library, worker: "src/worker.ts", check: "src/check.ts", cli: "src/cli/bin.ts" },
    banner: refuseBundling,
  },
  { ...commonJs, entry: library, banner: refuseBundling },
  { ...common, format: "esm", entry: ["src/refuse-bundling.ts"] },
  { ...commonJs, entry: ["src/refuse-bundling.ts"] },
  { ...common, format: ["esm", "cjs"], entry: library, dts: { only: true } },
]);
