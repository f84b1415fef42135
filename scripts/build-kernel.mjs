/**
 * Compiles src/kernel/assembly to WebAssembly and embeds it: build/kernel.wasm, and
 * src/kernel/module.generated.ts, which holds the same bytes in base64. Skips work that is up to date.
 */

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";

const root = fileURLToPath(new URL("..", import.meta.url));
const sources = join(root, "src/kernel/assembly");
const wasm = join(root, "build/kernel.wasm");
const embedded = join(root, "src/kernel/module.generated.ts");

const modified = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const newest = Math.max(...readdirSync(sources).map((name) => modified(join(sources, name))));
const upToDate = Math.min(modified(wasm), modified(embedded)) > newest;

// no assertions, no allocator: the loader lays out memory and every pointer is its promise
const OPTIONS = [
  "-O3",
  "--noAssert",
  "--enable=simd",
  "--enable=bulk-memory",
  "--runtime=stub",
  "--importMemory",
  "--initialMemory=16",
  "--maximumMemory=65536",
  "--memoryBase=65536",
  "--noExportMemory",
];

if (!upToDate) {
  mkdirSync(join(root, "build"), { recursive: true });
  const { error } = await asc.main([join(sources, "index.ts"), `--outFile=${wasm}`, ...OPTIONS], {
    stdout: process.stdout,
  });
  if (error) {
    console.error(String(error));
    process.exit(1);
  }
  const base64 = readFileSync(wasm).toString("base64");
  writeFileSync(
    embedded,
    `// made by scripts/build-kernel.mjs from src/kernel/assembly\nexport const KERNEL_BASE64 =\n  "${base64}";\n`,
  );
}
