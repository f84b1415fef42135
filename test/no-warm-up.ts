/**
 * Engines of tests do not warm up unless a test asks for it: most are asked a few questions, and to warm up would take
 * longer than all of these.
 */

import { readFileSync } from "node:fs";
import type { Plugin } from "esbuild";

const WARMS_UP = "options.warmUp ?? true";

/** Changes the default in a bundle, and fails if it is another one. */
export const noWarmUp: Plugin = {
  name: "no warm-up",
  setup: (esbuild) =>
    esbuild.onLoad({ filter: /[\\/]src[\\/]opened-engine\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, "utf8");
      if (!source.includes(WARMS_UP)) throw new Error(`there is no ${WARMS_UP} to replace`);
      return { contents: source.replace(WARMS_UP, "options.warmUp ?? false"), loader: "ts" };
    }),
};
