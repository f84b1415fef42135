/**
 * The deliberate differences from the service whose query language this is. Each has a row, which an engine answers.
 */

import { afterAll, beforeAll, expect, test } from "vitest";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { documents, open, type Engine, type SearchRequest } from "../../src/index.ts";

let engine: Engine;
let hidden: number;

beforeAll(async () => {
  const contexts = () => ["Team/Open", "Team/Hidden"];
  engine = await open(mkdtempSync(join(tmpdir(), "quern-deviations-")), { workers: 0, contexts });
  const files = [
    { path: "quotes.txt", content: 'say "hi" \\ twice' },
    { path: "names.py", content: "def alpha_alpha():\n    pass\n\ndef beta():\n    pass\n" },
    { path: "b.cpp", content: "int main() {}\n" },
  ];
  const sources = ["Team/Open", "Team/Hidden"].map((name) => documents({ name, files }));
  const reports = await engine.index(sources);
  hidden = reports.find(({ repository }) => repository === "Team/Hidden")!.repositoryId;
});

afterAll(async () => {
  await engine.close();
  rmSync(engine.path, { recursive: true, force: true });
});

type More = Partial<SearchRequest>;
const CASE: More = { isCaseSensitivityEnabled: true };

/** The numbers of files and of ranges in one repository. */
test.each<[query: string, more: More, files: string, ranges: number]>([
  // escapes within quotes are resolved
  ['"say \\"hi\\""', {}, "quotes.txt", 1],
  ['"hi\\" \\\\ twice"', {}, "quotes.txt", 1],
  // sym: may contain groups, and every match in a name counts
  ["sym:(alpha|beta)", {}, "names.py", 3],
  ["sym:al", {}, "names.py", 2],
  // aliases of languages
  ["lang:cpp", {}, "b.cpp", 1],
  ["lang:C++", {}, "b.cpp", 1],
  ["lang:py", {}, "names.py", 1],
  ["lang:python3", {}, "names.py", 1],
  // repo: follows the case flag
  ["repo:^team/ beta", {}, "names.py", 1],
  ["repo:^team/ beta", CASE, "", 0],
  ["repo:^Team/ beta", CASE, "names.py", 1],
  // neither a set nor rev: makes a repository visible
  ["context:all beta", {}, "names.py", 1],
  ["context:all rev:* beta", {}, "names.py", 1],
  ["reposet:Team/Hidden rev:* beta", {}, "", 0],
])("%s %j", async (query, more, files, ranges) => {
  const ids = (await engine.repositories()).map(({ id }) => id).filter((id) => id !== hidden);
  const viewer = { repositoryIds: new Set(ids) };
  const response = await engine.search({ query, matches: 100, ...more }, { viewer });
  expect(response.files.map(({ fileName }) => fileName.text).join()).toBe(files);
  expect(response.stats.totalMatchCount).toBe(ranges);
});
