/** The addresses at which a result is shown: by the host, and on its code host. */

import { expect, test } from "vitest";
import { defaultWebUrl, externalWebUrl } from "../../src/search/caller/present.ts";
import {
  CODE_HOST_TYPES,
  type CodeHostType,
  type RepositoryRecord,
} from "../../src/store/format/records.ts";

const record = (codeHostType: CodeHostType, webUrl?: string): RepositoryRecord => ({
  id: 1,
  name: "r",
  metadata: { codeHostType, ...(webUrl === undefined ? {} : { webUrl }) },
  revisions: [],
  indexedAt: 0,
  contentBytes: 0,
  segments: [],
});

const PAGES: Readonly<Record<CodeHostType, string | undefined>> = {
  github: "https://h/u/blob/feat/a%20b/src/x%23.ts",
  gitlab: "https://h/u/-/blob/feat/a%20b/src/x%23.ts",
  gitea: "https://h/u/src/branch/feat/a%20b/src/x%23.ts",
  azuredevops: "https://h/u?path=src%2Fx%23.ts&version=feat%2Fa%20b",
  bitbucketCloud: "https://h/u/src/feat/a%20b/src/x%23.ts",
  bitbucketServer: "https://h/u/browse/src/x%23.ts?at=feat%2Fa%20b",
  gerrit: "https://h/u/+/feat/a%20b/src/x%23.ts",
  genericGitHost: undefined,
};

test.each(CODE_HOST_TYPES)("a file on %s", (host) => {
  expect(externalWebUrl(record(host, "https://h/u"), "src/x#.ts", "feat/a b")).toBe(PAGES[host]);
  expect(externalWebUrl(record(host, "https://h/u/"), "src/x#.ts", "feat/a b")).toBe(PAGES[host]);
  expect(externalWebUrl(record(host), "src/x#.ts", "main")).toBeUndefined();
});

test("the default page of a host", () => {
  const file = { repository: "a/b c", repositoryId: 7, path: "src/x#.ts", revision: "feat/y" };
  expect(defaultWebUrl(file)).toBe("/browse/a/b%20c@feat/y/-/blob/src/x%23.ts");
});
