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
import ts from "typescript";

const library = {
  index: "src/index.ts",
  http: "src/http/index.ts",
  mcp: "src/mcp/index.ts",
  cluster: "src/cluster/index.ts",
  sync: "src/sync/index.ts",
  testing: "src/testing.ts",
};

/**
 * Emits the declarations of all that the library imports, and returns where those of its entries are. tsup
 * would check types for it, which the linter has done, in a program for each folder of an entry.
 */
function emitDeclarations(): Record<string, string> {
  const { config } = ts.readConfigFile("tsconfig.json", (path) => ts.sys.readFile(path)) as {
    config: { compilerOptions: object };
  };
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, ".");
  const program = ts.createProgram([...Object.values(library), "src/kernel/webassembly.d.ts"], {
    ...options,
    noCheck: true,
    noEmit: false,
    emitDeclarationOnly: true,
    rootDir: "src",
    outDir: "build/declarations",
  });
  for (const { messageText } of program.emit().diagnostics)
    throw new Error(ts.flattenDiagnosticMessageText(messageText, "\n"));
  const emitted = (source: string): string =>
    source.replace(/^src\/(.*)\.ts$/, "build/declarations/$1.d.ts");
  return Object.fromEntries(
    Object.entries(library).map(([name, source]) => [name, emitted(source)]),
  );
}

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
  {
    ...common,
    format: "esm", // scripts/build-package.mjs makes those of CommonJS
    entry: library,
    dts: { only: true, entry: emitDeclarations() },
  },
]);
