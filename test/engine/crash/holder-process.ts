/** A process that holds a snapshot until it is killed. */

import { openEnvironment } from "../../../src/store/lmdb/environment.ts";
import { readManifest } from "../../../src/store/catalog/manifest.ts";

const snapshot = openEnvironment(process.argv[2]!, { readOnly: true }).snapshot();
process.stdout.write(`holds generation ${readManifest(snapshot).generation}\n`);
setInterval(() => snapshot.close(), 2 ** 30);
