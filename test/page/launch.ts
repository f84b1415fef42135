/**
 * The browser of the tests: Chromium of the package @sparticuz/chromium, which also brings the libraries
 * and fonts that a bare Linux lacks. It is unpacked once into build/browser/, 0.3 GB.
 * Where it does not run (another system or processor) QUERN_BROWSER may name a Chromium.
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
import { brotliDecompressSync } from "node:zlib";
import { chromium, type Browser } from "playwright-core";

const FOLDER = resolve("build/browser");

function unpack(): string {
  if (existsSync(FOLDER)) return FOLDER;
  const main = createRequire(import.meta.url).resolve("@sparticuz/chromium");
  const packed = (name: string): Buffer =>
    brotliDecompressSync(readFileSync(join(dirname(main), "../../bin", name)));
  const folder = `${FOLDER}-${process.pid}`;
  mkdirSync(folder, { recursive: true });
  const program = join(folder, "chromium");
  writeFileSync(program, packed("chromium.br"));
  chmodSync(program, 0o755);
  for (const name of ["al2023.tar.br", "fonts.tar.br", "swiftshader.tar.br"])
    execFileSync("tar", ["-x", "-C", folder], { input: packed(name) });
  try {
    renameSync(folder, FOLDER);
  } catch {
    rmSync(folder, { recursive: true, force: true }); // another test file was faster
  }
  return FOLDER;
}

export async function launchBrowser(): Promise<Browser> {
  const given = process.env["QUERN_BROWSER"];
  const args = ["--no-sandbox", "--no-zygote", "--font-render-hinting=none"];
  if (given !== undefined) return chromium.launch({ executablePath: given, args });
  const folder = unpack();
  return chromium.launch({
    executablePath: join(folder, "chromium"),
    args,
    env: { ...process.env, LD_LIBRARY_PATH: join(folder, "lib") } as Record<string, string>,
  });
}
