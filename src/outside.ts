/**
 * What every file of the package imports before anything else (tsup.config.ts): it throws where a bundler has
 * taken quern in. Not in the sources' own imports, because lmdb would be evaluated first: bundlers do not
 * keep the order of chunks, and lmdb's loader dies in a bundle with words that name nobody.
 */

import { packageFile } from "./base/package-file.ts";

packageFile("worker.js");
packageFile("check.js");
