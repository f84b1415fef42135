/** The entry of the process that checks an index: prints the report as JSON. */

import { QuernError } from "./base/errors.ts";
import { checkEnvironment, type CheckReport } from "./store/check.ts";
import { openEnvironment } from "./store/environment.ts";

async function check(path: string): Promise<CheckReport> {
  try {
    const environment = openEnvironment(path, { readOnly: true });
    const report = await checkEnvironment(environment);
    await environment.close();
    return report;
  } catch (error) {
    // cut short since it was opened, say
    if (!(error instanceof QuernError)) throw error;
    return { ok: false, segments: 0, files: 0, bytes: 0, problems: [{ message: error.message }] };
  }
}

process.stdout.write(JSON.stringify(await check(process.argv[2]!)));
