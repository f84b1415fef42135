/** The entry of the process that checks an index: prints the report as JSON. */

import { checkEnvironment } from "./store/check.ts";
import { openEnvironment } from "./store/environment.ts";

const environment = openEnvironment(process.argv[2]!, { readOnly: true });
process.stdout.write(JSON.stringify(await checkEnvironment(environment)));
await environment.close();
