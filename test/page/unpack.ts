/**
 * Unpacks the browser of the tests into build/browser/, 0.3 GB. That takes 3 s of processor time, so test/setup.ts does
 * it once, before several test files would do it at the same time.
 */

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";

const FOLDER = resolve("build/browser");

/** Resolves to the folder with the program `chromium`, and its libraries in `lib`. */
export async function unpackBrowser(): Promise<string> {
  if (existsSync(FOLDER)) return FOLDER;
  const main = createRequire(import.meta.url).resolve("@sparticuz/chromium");
  const packed = (name: string): Promise<Buffer> =>
    promisify(brotliDecompress)(readFileSync(join(dirname(main), "../../bin", name)));
  const folder = `${FOLDER}-${process.pid}`;
  mkdirSync(folder, { recursive: true });
  const program = join(folder, "chromium");
  writeFileSync(program, await packed("chromium.br"));
  chmodSync(program, 0o755);
  for (const name of ["al2023.tar.br", "fonts.tar.br", "swiftshader.tar.br"])
    execFileSync("tar", ["-x", "-C", folder], { input: await packed(name) });
  try {
    renameSync(folder, FOLDER);
  } catch {
    rmSync(folder, { recursive: true, force: true }); // another process was faster
  }
  return FOLDER;
}
