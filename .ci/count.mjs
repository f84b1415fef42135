/**
 * Prints the failed tests and, as the last line, `N passed, N failed` from vitest's JSON reports. A file that could not
 * be loaded is one failure, and so is a report that is not there, because the tests were broken off.
 */

import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";

const resultsOf = (report) =>
  existsSync(report)
    ? JSON.parse(readFileSync(report, "utf8")).testResults
    : [{ name: report, status: "failed", message: "no report", assertionResults: [] }];

let passed = 0;
const failures = [];
for (const { name, status, message, assertionResults } of process.argv
  .slice(2)
  .flatMap(resultsOf)) {
  const failed = assertionResults.filter((result) => result.status === "failed");
  passed += assertionResults.filter((result) => result.status === "passed").length;
  for (const { fullName, failureMessages } of failed)
    failures.push([name, fullName, failureMessages[0]]);
  if (failed.length === 0 && status === "failed") failures.push([name, "the file", message]);
}
for (const [file, test, message = ""] of failures)
  console.log(`failed: ${relative(".", file)}: ${test}: ${message.split("\n")[0].slice(0, 200)}`);
console.log(`${passed} passed, ${failures.length} failed`);
process.exitCode = passed > 0 && failures.length === 0 ? 0 : 1;
