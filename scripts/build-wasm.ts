/**
 * Writes the WebAssembly modules that quern loads to build/wasm, compressed with Brotli. They take 4 MB instead of 60,
 * and the largest is decompressed in 9 ms. Skips work that is up to date. Fails if a package has another module than the
 * table src/base/wasm-modules.ts says.
 */

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import { compressedName } from "../src/base/wasm-file.ts";
import { WASM_MODULES } from "../src/base/wasm-modules.ts";

const require = createRequire(import.meta.url);
const folder = fileURLToPath(new URL("../build/wasm", import.meta.url));
const table = fileURLToPath(new URL("../src/base/wasm-modules.ts", import.meta.url));
/** With quality 11, the files would be 12 % smaller, and building them would take ten times as long. */
const PARAMS = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 22 };

const modified = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const inputs = [table, fileURLToPath(import.meta.url)];
const newest = Math.max(...inputs.map(modified));

mkdirSync(folder, { recursive: true });
const names = new Set(Object.keys(WASM_MODULES).map(compressedName));
for (const name of readdirSync(folder)) if (!names.has(name)) rmSync(join(folder, name));
for (const [specifier, { sha256 }] of Object.entries(WASM_MODULES)) {
  const target = join(folder, compressedName(specifier));
  if (modified(target) > newest) continue;
  const bytes = readFileSync(require.resolve(specifier));
  if (createHash("sha256").update(bytes).digest("hex") !== sha256)
    throw new Error(`${specifier} has another hash than in the table: run scripts/wasm-table.ts`);
  writeFileSync(target, brotliCompressSync(bytes, { params: PARAMS }));
}
