/** Before any test: the kernel is compiled and the workers' entry is bundled, as `npm run build` does. */

import { execFileSync } from "node:child_process";

export default function setup(): void {
  for (const script of ["scripts/build-kernel.mjs", "scripts/build-worker.mjs"])
    execFileSync(process.execPath, [script], { stdio: "inherit" });
}
