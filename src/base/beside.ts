/** Files of the package that something is started from: the threads' entry, the process that checks an index. */

import { existsSync } from "node:fs";
import { QuernError } from "./errors.ts";

/** A file that lies beside this code in the package, or in build/ where quern runs from its sources. */
export function beside(name: string): URL {
  const here: string | undefined = import.meta.url; // absent in ES modules bundled to CommonJS
  const path = here?.endsWith(".ts") ? `../../build/${name}` : `./${name}`;
  if (here !== undefined && existsSync(new URL(path, here))) return new URL(path, here);
  throw new QuernError(
    "INTERNAL",
    `quern's ${name} is not beside its code: a bundler has taken quern in. ` +
      "Leave it out of the bundle: mark 'quern', 'quern/http' and 'quern/testing' as external",
  );
}
