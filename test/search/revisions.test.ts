/** Repositories with a history, all their revisions in one index: the golden answers of each. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { buildCorpus, CORPUS } from "../../scripts/build-corpus.ts";
import { git } from "../../src/ingest/sources/git.ts";
import { openEngine, temporaryFolder } from "../engine/opened.ts";

interface Golden {
  readonly repository: string;
  readonly revision: string;
  readonly query: string;
  readonly totalMatchCount: number;
  readonly fileCount: number;
}

const GOLDEN = JSON.parse(readFileSync(join(CORPUS, "golden/revisions.json"), "utf8")) as Golden[];

test("each revision answers for itself, whichever others are indexed", async () => {
  const built = await buildCorpus(temporaryFolder());
  const asked = built.filter(({ name }) => GOLDEN.some(({ repository }) => repository === name));
  const engine = await openEngine({ workers: 1 });
  await engine.index(asked.map(({ name, path, revisions }) => git(path, { name, revisions })));
  for (const { repository, revision, query, ...wanted } of GOLDEN) {
    const request = { query: `repo:^${repository}$ rev:${revision} ${query}`, matches: 100 };
    const { stats, files } = await engine.search(request);
    const { totalMatchCount, fileCount } = stats;
    expect({ totalMatchCount, fileCount }, request.query).toEqual({
      totalMatchCount: wanted.totalMatchCount,
      fileCount: wanted.fileCount,
    });
    for (const { branches } of files) expect(branches, request.query).toContain(revision);
  }
});
