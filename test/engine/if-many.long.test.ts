/** What is shown if many ranges match: exactly the answer to the request that `ifMany` describes. */

import { expect, test } from "vitest";
import { documents } from "../../src/ingest/sources/documents.ts";
import { coreOf } from "../../src/core-of.ts";
import type { SearchResponse } from "../../src/search/messages/response.ts";
import { randomFrom } from "../regex/random.ts";
import { openEngine } from "./opened.ts";

const shown = ({ files, nextCursor, stats, isSearchExhaustive }: SearchResponse) => ({
  files,
  nextCursor,
  isSearchExhaustive,
  counts: [stats.totalMatchCount, stats.actualMatchCount, stats.fileCount],
});

test.each([0, 2])("with %i workers, the best of each file if many match", async (workers) => {
  const engine = await openEngine({ workers });
  const random = randomFrom(workers);
  const files = Array.from({ length: 90 }, (_, i) => ({
    path: `src/${i % 7}/file${i}.ts`,
    content: Array.from({ length: 1 + random(9) }, () =>
      ["needle();", "const needle = 1; // needle", "rare", "other"][random(4)]!.repeat(
        1 + random(2),
      ),
    ).join("\n"),
  }));
  for (const part of [0, 1, 2])
    await engine.index(
      documents({ name: `r${part}`, files: files.filter((_, i) => i % 3 === part) }),
    );
  const seen = new Set<boolean>();
  for (let round = 0; round < 60; round++) {
    const query = ["needle", "rare", "rare needle", "file:file1", "nothing"][random(5)]!;
    const all = {
      query,
      matches: 1 + random(300),
      matchesPerFile: 1e9,
      after: "",
      enclosing: true,
    };
    const matches = 1 + random(60);
    let isMany: boolean | undefined;
    const onCounted = (given: boolean) => void (isMany = given);
    const answer = await coreOf(engine).view({}).search(all, { matches, onCounted });
    expect(isMany).toBe(answer.stats.totalMatchCount > all.matches);
    const best = { ...all, matches, matchesPerFile: 1 };
    expect(shown(answer)).toEqual(shown(await engine.search(isMany ? best : all)));
    if (isMany && answer.nextCursor !== undefined)
      await engine.search({ ...best, after: answer.nextCursor });
    seen.add(isMany!);
  }
  expect(seen.size).toBe(2);
});
