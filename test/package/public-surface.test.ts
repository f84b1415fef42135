/** Nothing becomes public, or stops being it, unseen. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { apiReport, REPORT } from "../../scripts/api-report.ts";
import * as quern from "../../src/index.ts";
import * as http from "../../src/http/index.ts";
import * as testing from "../../src/testing.ts";

test("docs/api-report.md is what `npm run api-report` makes", async () => {
  expect(await apiReport()).toBe(readFileSync(REPORT, "utf8"));
});

test("the values of each entry", () => {
  expect(Object.keys(quern).sort()).toEqual([
    "QuernError",
    "directory",
    "documents",
    "git",
    "open",
  ]);
  expect(Object.keys(http).sort()).toEqual([
    "createApiKey",
    "createHandler",
    "lmdbTokenStore",
    "lmdbUserStore",
    "memoryTokenStore",
    "memoryUserStore",
    "toNodeListener",
  ]);
  expect(Object.keys(testing).sort()).toEqual(["tokenStoreSuite", "userStoreSuite"]);
});
