/** Nothing becomes public, or stops being public, without a change here. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { apiReport, publicEntries, REPORT, undeclared } from "../../scripts/api-report.ts";
import * as quern from "../../src/index.ts";
import * as cluster from "../../src/cluster/index.ts";
import * as http from "../../src/http/index.ts";
import * as sync from "../../src/sync/index.ts";
import * as testing from "../../src/testing.ts";

const surface = publicEntries();

test("docs/api-report.md is what `npm run api-report` makes", async () => {
  expect(await apiReport(surface)).toBe(readFileSync(REPORT, "utf8"));
});

test("a type that the surface names and no entry exports is no report", async () => {
  const without = ["FlushReason", "Handler", "RepositoryMetadata"];
  const entries = surface.entries.map(({ name, symbols }) => ({
    name,
    symbols: symbols.filter((symbol) => !without.includes(symbol.name)),
  }));
  expect(undeclared({ ...surface, entries }).sort()).toEqual([
    "FlushReason (named by SearchStats)",
    "Handler (named by createHandler)",
    "Handler (named by toNodeListener)",
    "RepositoryMetadata (named by DirectoryOptions)",
    "RepositoryMetadata (named by DocumentsOptions)",
    "RepositoryMetadata (named by GitOptions)",
    "RepositoryMetadata (named by Repository)",
    "RepositoryMetadata (named by Source)",
    "RepositoryMetadata (named by WorkspaceOptions)",
  ]);
  await expect(apiReport({ ...surface, entries })).rejects.toThrow("FlushReason");
});

test("the values of each entry", () => {
  expect(Object.keys(quern).sort()).toEqual([
    "QuernError",
    "directory",
    "documents",
    "git",
    "open",
    "remoteOf",
    "watch",
  ]);
  expect(Object.keys(http).sort()).toEqual([
    "answerUnreadable",
    "createApiKey",
    "createHandler",
    "lmdbAuditStore",
    "lmdbTokenStore",
    "lmdbUserStore",
    "memoryAuditStore",
    "memoryTokenStore",
    "memoryUserStore",
    "toNodeListener",
  ]);
  expect(Object.keys(cluster).sort()).toEqual([
    "directorySegments",
    "migrateCluster",
    "openCluster",
    "postgresAuditStore",
    "postgresCatalog",
    "postgresSegments",
    "postgresTokenStore",
    "postgresUserStore",
    "s3Segments",
  ]);
  expect(Object.keys(testing).sort()).toEqual([
    "auditStoreSuite",
    "segmentStoreSuite",
    "tokenStoreSuite",
    "userStoreSuite",
  ]);
  expect(Object.keys(sync).sort()).toEqual([
    "readSyncConfig",
    "startSync",
    "syncConfigSchema",
    "syncConnections",
  ]);
});
