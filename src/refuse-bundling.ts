/**
 * Throws if a bundler has bundled quern, because the files that quern loads at run time would be missing. Every file of
 * the package imports this before anything else (tsup.config.ts adds the import). The sources do not import it, because
 * bundlers do not keep the order of chunks, so lmdb could be evaluated first. The loader of lmdb fails in a bundle with
 * a message that does not name quern.
 */

import { packageFile } from "./base/package-file.ts";

packageFile("worker.js");
packageFile("check.js");
