/** Counts the golden answers again without the engine, so that the engine can be tested against them. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CORPUS, readTree, repositoryNames } from "../../scripts/build-corpus.ts";
import { countMatches, decode, type CorpusFile, type Counts, type Request } from "./brute-force.ts";

/** The format is described in corpus/README.md. */
interface Golden extends Request, Counts {
  readonly about: string;
  readonly first: readonly (string | readonly string[])[];
  readonly before?: readonly (readonly [string, string])[];
  readonly definitions?: readonly string[];
}

const queries = JSON.parse(readFileSync(join(CORPUS, "golden/queries.json"), "utf8")) as Golden[];
const files = await loadFiles();
const byName = new Map(files.map((file) => [`${file.repository}/${file.path}`, file]));

async function loadFiles(): Promise<CorpusFile[]> {
  const found: CorpusFile[] = [];
  for (const repository of await repositoryNames())
    for (const [path, { content }] of await readTree(join(CORPUS, repository)))
      found.push({ repository, path, text: decode(content) });
  return found;
}

const counted = queries.filter((golden) => golden.definitions === undefined);
const defined = queries.filter((golden) => golden.definitions !== undefined);

test("there are enough golden queries, and none occurs twice", () => {
  const keys = queries.map((q) =>
    JSON.stringify([q.query, q.isRegexEnabled, q.isCaseSensitivityEnabled]),
  );
  expect(new Set(keys).size).toBe(queries.length);
  expect(queries.length).toBeGreaterThanOrEqual(40);
  expect(queries.filter((q) => q.first.length > 0).length).toBeGreaterThanOrEqual(25);
});

test.each(counted)("golden counts are right: $query", (golden) => {
  const { totalMatchCount, fileCount } = golden;
  expect(countMatches(golden, files)).toEqual({ totalMatchCount, fileCount });
});

test.each(defined)("golden definitions are right: $query", ({ query, definitions = [], totalMatchCount, fileCount }) => {
  const name = /^sym:\^?(\w+)/.exec(query)?.[1] ?? "";
  for (const place of definitions) {
    const [path = "", line = ""] = place.split(":");
    expect(byName.get(path)?.text.split("\n")[Number(line) - 1], place).toContain(name);
  }
  expect(definitions.length).toBe(totalMatchCount);
  expect(new Set(definitions.map((place) => place.split(":")[0])).size).toBe(fileCount);
});

test.each(queries)("the files listed for $query match it", (golden) => {
  for (const name of [...golden.first, ...(golden.before ?? [])].flat()) {
    const file = byName.get(name);
    expect(file, name).toBeDefined();
    if (file !== undefined && golden.definitions === undefined)
      expect(countMatches(golden, [file]).fileCount, name).toBe(1);
  }
});

describe("the counter itself", () => {
  const count = (query: string, text: string, more: Partial<Request> = {}): Counts =>
    countMatches({ query, ...more }, [{ repository: "shop", path: "src/a.go", text }]);

  test.each<[string, string, number, Partial<Request>?]>([
    ["aa", "aaaaa", 2],
    ["ba aa", "baaa", 1],
    ["a b", "aaa", 0],
    ["a or b", "aaa", 3],
    ["a.b", "a.b axb", 1],
    ["a.b", "a.b axb", 2, { isRegexEnabled: true }],
    ["FOO", "foo Foo", 2],
    ["Foo", "foo Foo", 1, { isCaseSensitivityEnabled: true }],
    ["-(foo)", "bar", 1],
    ["-(foo)", "foo", 0],
    ["-foo", "a-foo", 1],
    ["file:[as]", "x", 2],
    ["file:a x", "xx", 2],
    ["lang:go", "", 1],
    ["-lang:go x", "x", 0],
    ["repo:^shop$ content:x", "x", 1],
    ['"x y"', "x y x  y", 1],
  ])("%s in %j has %d matches", (query, text, want, more) => {
    expect(count(query, text, more).totalMatchCount).toBe(want);
  });
});
