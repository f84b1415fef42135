/**
 * Compiles src/kernel/assembly to WebAssembly and embeds it: build/kernel.wasm, build/search.wasm for memory
 * that threads share, and src/kernel/module.generated.ts, which holds the same bytes in base64. Skips work
 * that is up to date.
 */

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";

const root = fileURLToPath(new URL("..", import.meta.url));
const sources = join(root, "src/kernel/assembly");
const embedded = join(root, "src/kernel/module.generated.ts");

// no assertions and no allocator, because the loader lays out the memory and guarantees every pointer
const OPTIONS = [
  "-O3",
  "--noAssert",
  "--enable=simd",
  "--enable=bulk-memory",
  "--runtime=stub",
  "--importMemory",
  "--maximumMemory=65536",
  "--memoryBase=65536",
  "--noExportMemory",
];
const MODULES = [
  { name: "KERNEL", entry: "index.ts", wasm: "kernel.wasm", options: ["--initialMemory=16"] },
  {
    name: "SEARCH",
    entry: "shared.ts",
    wasm: "search.wasm",
    options: ["--initialMemory=1", "--enable=threads", "--sharedMemory"],
  },
].map((module) => ({ ...module, wasm: join(root, "build", module.wasm) }));

const modified = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
// job.ts is compiled both to WebAssembly and as TypeScript
const inputs = [
  ...readdirSync(sources).map((name) => join(sources, name)),
  join(sources, "../job.ts"),
];
const newest = Math.max(...inputs.map(modified));
const made = [embedded, ...MODULES.map(({ wasm }) => wasm)];

async function compile({ name, entry, wasm, options }) {
  const args = [join(sources, entry), `--outFile=${wasm}`, ...OPTIONS, ...options];
  const { error } = await asc.main(args, { stdout: process.stdout });
  if (error) {
    console.error(String(error));
    process.exit(1);
  }
  return `export const ${name}_BASE64 =\n  "${readFileSync(wasm).toString("base64")}";\n`;
}

if (Math.min(...made.map(modified)) <= newest) {
  mkdirSync(join(root, "build"), { recursive: true });
  const constants = [];
  for (const module of MODULES) constants.push(await compile(module));
  const origin = "// made by scripts/build-kernel.mjs from src/kernel/assembly\n";
  writeFileSync(embedded, origin + constants.join(""));
}
