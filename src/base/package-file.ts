/** Finds files of the package at run time, such as the entry of the threads. */

import { existsSync } from "node:fs";
import { QuernError } from "./errors.ts";

/** Returns the address of a file next to this code in the package, or in build/ if quern runs from its sources. */
export function packageFile(name: string): URL {
  const here: string | undefined = import.meta.url; // absent in ES modules bundled to CommonJS
  const path = here?.endsWith(".ts") ? `../../build/${name}` : `./${name}`;
  if (here !== undefined && existsSync(new URL(path, here))) return new URL(path, here);
  throw new QuernError(
    "INTERNAL",
    `quern's ${name} is not next to its code, because a bundler has bundled quern. ` +
      "Leave it out of the bundle: mark 'quern', 'quern/http' and 'quern/testing' as external",
  );
}
