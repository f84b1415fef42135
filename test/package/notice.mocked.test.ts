/** NOTICE and the table of WebAssembly modules describe what is installed, and a module that differs is not loaded. */

import { createHash } from "node:crypto";
import type * as FileSystem from "node:fs";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import { expect, test, vi } from "vitest";
import { noticeText } from "../../scripts/notice.ts";
import { wasmTable } from "../../scripts/wasm-table.ts";
import { compressedName } from "../../src/base/wasm-file.ts";
import { WASM_MODULES } from "../../src/base/wasm-modules.ts";

const swapped = vi.hoisted(() => new Map<string, Uint8Array>());
vi.mock("node:fs", async (original) => {
  const fs = await original<typeof FileSystem>();
  const read = (path: URL | string, ...rest: never[]) =>
    swapped.get(String(path).split("/").at(-1)!) ?? fs.readFileSync(path, ...rest);
  return { ...fs, readFileSync: read, default: { ...fs, readFileSync: read } };
});
const { readWasm } = await import("../../src/base/wasm-file.ts");

const words = (text: string): string => text.replaceAll(/[\s,]+/g, " ");

test("the table has the hashes of the modules that are installed", () => {
  const table = readFileSync("src/base/wasm-modules.ts", "utf8");
  expect(words(table)).toBe(words(wasmTable()));
  const { resolve } = createRequire(import.meta.url);
  for (const [specifier, { sha256 }] of Object.entries(WASM_MODULES)) {
    const installed = readFileSync(resolve(specifier));
    expect(createHash("sha256").update(installed).digest("hex"), specifier).toBe(sha256);
    expect(Buffer.compare(readWasm(specifier), installed), specifier).toBe(0);
  }
});

test("the build has all modules, and no others", () => {
  const names = Object.keys(WASM_MODULES).map(compressedName);
  expect(readdirSync("build/wasm").sort()).toEqual(names.sort());
  expect(new Set(names).size).toBe(names.length);
});

test("NOTICE lists everything that the package contains or loads", async () => {
  expect(readFileSync("NOTICE", "utf8")).toBe(await noticeText());
});

test.each<[what: string, change: (stored: Buffer) => Uint8Array]>([
  [
    "a module with one other byte",
    (stored) => {
      const bytes = brotliDecompressSync(stored);
      bytes[bytes.length >> 1]! ^= 1;
      return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
    },
  ],
  ["a truncated file", (stored) => stored.subarray(0, stored.length >> 1)],
  ["an empty file", () => new Uint8Array()],
])("%s is not loaded", (_, change) => {
  const specifier = "re2-wasm/build/wasm/re2.wasm";
  const name = compressedName(specifier);
  swapped.set(name, change(readFileSync(`build/wasm/${name}`)));
  expect(() => readWasm(specifier)).toThrow(expect.objectContaining({ code: "INTERNAL" }));
  swapped.clear();
  expect(readWasm(specifier).length).toBeGreaterThan(0);
});
