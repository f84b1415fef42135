/**
 * Engines of tests do not warm up, and have no workers, unless a test requests it. Most answer only a few questions.
 * Warming up takes longer than all of these, and starting a worker takes 0.1 s of processor time.
 */

import { readFileSync } from "node:fs";
import type { Plugin } from "esbuild";

/** The defaults in the source, and those of tests. */
const DEFAULTS = [
  ["options.warmUp ?? true", "options.warmUp ?? false"],
  ["options.workers ?? Math.min(availableParallelism(), 4)", "options.workers ?? 0"],
] as const;

/** Changes the defaults in a bundle. Fails if the bundle has other defaults. */
export const quickEngines: Plugin = {
  name: "quick engines",
  setup: (esbuild) =>
    esbuild.onLoad({ filter: /[\\/]src[\\/]opened-engine\.ts$/ }, ({ path }) => {
      let contents = readFileSync(path, "utf8");
      for (const [own, quick] of DEFAULTS) {
        if (!contents.includes(own)) throw new Error(`there is no ${own} to replace`);
        contents = contents.replace(own, quick);
      }
      return { contents, loader: "ts" };
    }),
};
