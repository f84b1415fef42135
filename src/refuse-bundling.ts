/**
 * Throws if a bundler has bundled quern, because the files that quern loads at run time are missing from a bundle.
 * tsup.config.ts adds an import of this module to the top of every file of the package. The sources do not import
 * this module, because bundlers do not keep the order of chunks. The package lmdb could then be evaluated first. In a
 * bundle, its loader fails with a message that does not name quern.
 */

import { packageFile } from "./base/package-file.ts";

packageFile("worker.js");
packageFile("check.js");
