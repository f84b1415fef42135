/** Before any test: the kernel is compiled the workers' entry and the page are bundled, as `npm run build` does. */

import { execFileSync } from "node:child_process";

export default function setup(): void {
  for (const script of [
    "scripts/build-kernel.mjs",
    "scripts/build-worker.mjs",
    "scripts/build-page.mjs",
  ])
    execFileSync(process.execPath, [script], { stdio: "inherit" });
}
