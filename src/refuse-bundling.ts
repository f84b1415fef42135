/**
 * Throws if a bundler has bundled quern. A bundle lacks the files that quern loads at run time. tsup.config.ts adds an
 * import of this module to the top of every file of the package. If the sources imported it instead, the package lmdb
 * could be evaluated first, because bundlers do not keep the order of chunks. In a bundle, lmdb's loader fails with a
 * message that does not name quern.
 */

import { packageFile } from "./base/package-file.ts";

packageFile("worker.js");
packageFile("check.js");
