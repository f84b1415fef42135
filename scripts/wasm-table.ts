/**
 * Writes src/base/wasm-modules.ts, the table of the WebAssembly modules that quern loads, with their hashes. Run it after
 * a package with a module has a new version, or a language another grammar: `npx tsx scripts/wasm-table.ts`. Then run
 * scripts/notice.ts.
 */

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { LANGUAGE_QUERIES } from "../src/ingest/symbols/languages.ts";
import { ORIGINS } from "./grammar-origins.ts";

const require = createRequire(import.meta.url);
const TARGET = fileURLToPath(new URL("../src/base/wasm-modules.ts", import.meta.url));
const OTHERS = ["re2-wasm/build/wasm/re2.wasm", "web-tree-sitter/tree-sitter.wasm"];

const packageOf = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");

function entryOf(specifier: string): string {
  const name = packageOf(specifier);
  const manifest = join("node_modules", name, "package.json"); // not every package exports it
  const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };
  const bytes = readFileSync(require.resolve(specifier));
  const { license, repository } = ORIGINS[basename(specifier)]!;
  return `  "${specifier}": {
    package: "${name}",
    version: "${version}",
    repository: "${repository}",
    license: "${license}",
    sha256: "${createHash("sha256").update(bytes).digest("hex")}",
  },
`;
}

/** Returns the text of the table for the packages that are installed. */
export function wasmTable(): string {
  const specifiers = [...new Set(LANGUAGE_QUERIES.map(({ grammar }) => grammar)), ...OTHERS];
  return `/**
 * Lists the WebAssembly modules that quern loads. Written by scripts/wasm-table.ts. The build stores each module in
 * compressed form (scripts/build-wasm.ts). A module whose hash differs is not loaded (wasm-file.ts).
 */

export interface WasmModule {
  /** The package that has the compiled module. */
  readonly package: string;
  readonly version: string;
  /** The repository of the source, and its licence. */
  readonly repository: string;
  readonly license: string;
  /** The hash of the module, before it is compressed. */
  readonly sha256: string;
}

/** The modules, by package and path. */
export const WASM_MODULES: Readonly<Record<string, WasmModule>> = {
${specifiers.sort().map(entryOf).join("")}};
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(TARGET, wasmTable());
