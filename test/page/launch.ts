/**
 * The browser of the tests: Chromium of the package @sparticuz/chromium, which also brings the libraries
 * and fonts that a bare Linux lacks. Where it does not run (another system or processor), QUERN_BROWSER may name a
 * Chromium.
 */

import { join } from "node:path";
import { chromium, type Browser } from "playwright-core";
import { unpackBrowser } from "./unpack.ts";

export async function launchBrowser(): Promise<Browser> {
  const given = process.env["QUERN_BROWSER"];
  // tabs of one context share a process
  const args = [
    "--no-sandbox",
    "--no-zygote",
    "--renderer-process-limit=1",
    "--font-render-hinting=none",
  ];
  if (given !== undefined) return chromium.launch({ executablePath: given, args });
  const folder = await unpackBrowser();
  return chromium.launch({
    executablePath: join(folder, "chromium"),
    args,
    env: { ...process.env, LD_LIBRARY_PATH: join(folder, "lib") } as Record<string, string>,
  });
}
