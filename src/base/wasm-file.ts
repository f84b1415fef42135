/**
 * Reads the WebAssembly modules of the package: the grammars, the runtime of tree-sitter, and RE2. A module is
 * decompressed, and compared with the hash in wasm-modules.ts, before it is compiled. So a damaged or replaced file never
 * runs. The largest module has 7.7 MB, and takes 15 ms.
 */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";
import { QuernError } from "./errors.ts";
import { throwIfOutOfFiles } from "./out-of-files.ts";
import { packageFile } from "./package-file.ts";
import { WASM_MODULES } from "./wasm-modules.ts";

/** Returns the name of the file with a module. `specifier` is a key of WASM_MODULES. */
export const compressedName = (specifier: string): string =>
  `${specifier
    .replace(/^@/, "")
    .replaceAll(/[/.]/g, "-")
    .replace(/-wasm$/, "")}.wasm.br`;

/** Reads a module. `specifier` is a key of WASM_MODULES. Throws INTERNAL if the file is missing or another one. */
export function readWasm(specifier: string): Uint8Array<ArrayBuffer> {
  const file = packageFile(`wasm/${compressedName(specifier)}`);
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = brotliDecompressSync(readFileSync(file));
  } catch (cause) {
    throwIfOutOfFiles(cause);
    throw damaged(specifier, cause);
  }
  const hash = createHash("sha256").update(bytes).digest("hex");
  if (hash !== WASM_MODULES[specifier]!.sha256) throw damaged(specifier);
  return bytes;
}

const damaged = (specifier: string, cause?: unknown): QuernError =>
  new QuernError(
    "INTERNAL",
    `quern's module ${compressedName(specifier)} differs from the one that it was built with: install quern again`,
    { cause },
  );
