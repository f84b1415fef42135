/** The entry of the process that checks an index. It prints the report as JSON. */

import { checkDirectory } from "./store/upkeep/check.ts";

process.stdout.write(JSON.stringify(await checkDirectory(process.argv[2]!)));
