/**
 * Prints `N passed, N failed` from vitest's JSON reports. A file that could not be loaded is one failure, and so is a
 * report that is not there, because the tests were broken off.
 */

import { existsSync, readFileSync } from "node:fs";

const broken = { testResults: [{ status: "failed", assertionResults: [] }] };
const testResults = process.argv
  .slice(2)
  .map((report) => (existsSync(report) ? JSON.parse(readFileSync(report, "utf8")) : broken))
  .flatMap((report) => report.testResults);
let passed = 0;
let failed = 0;
for (const { status, assertionResults } of testResults) {
  const fails = assertionResults.filter((result) => result.status === "failed").length;
  passed += assertionResults.filter((result) => result.status === "passed").length;
  failed += fails === 0 && status === "failed" ? 1 : fails;
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = passed > 0 && failed === 0 ? 0 : 1;
