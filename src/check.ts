/** The entry point of the child process that checks an index. The process prints the report as JSON. */

import { checkDirectory } from "./store/upkeep/check.ts";

process.stdout.write(JSON.stringify(await checkDirectory(process.argv[2]!)));
