/** Builds, before any test, what quern needs besides its sources: kernel, workers' entry, page and token table. */

import { execFileSync } from "node:child_process";

export default function setup(): void {
  for (const script of [
    "scripts/build-kernel.mjs",
    "scripts/build-worker.mjs",
    "scripts/build-page.mjs",
    "scripts/build-token-table.mjs",
  ])
    execFileSync(process.execPath, [script], { stdio: "inherit" });
}
