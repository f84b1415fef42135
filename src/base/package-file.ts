/** Finds files of the package at run time, such as the script of the worker threads. */

import { existsSync } from "node:fs";
import { QuernError } from "./errors.ts";

/**
 * Returns the URL of a file of the package, which is next to this code. If quern runs from its sources, the file is in
 * build/.
 */
export function packageFile(name: string): URL {
  const here: string | undefined = import.meta.url; // absent in ES modules bundled to CommonJS
  const isSource = here?.endsWith(".ts") === true;
  const path = isSource ? `../../build/${name}` : `./${name}`;
  if (here !== undefined && existsSync(new URL(path, here))) return new URL(path, here);
  throw new QuernError(
    "INTERNAL",
    isSource
      ? `build/${name} does not exist. Run the scripts/build-*.mjs that writes it, or npm test`
      : `quern's ${name} is not next to its code, because a bundler has bundled quern. ` +
          "Leave it out of the bundle: mark 'quern' and its entries, such as 'quern/http', as external; " +
          'in Next.js by serverExternalPackages: ["quern"]',
  );
}
