/** The cost of advice about a stranger's input: the rules of a folder, the filters of a query. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { excludedAtTop } from "../../src/ingest/sources/excluded.ts";
import { parseQuery } from "../../src/query/parse.ts";
import { changesOf } from "../../src/search/caller/suggestions.ts";
import { checkRequest } from "../../src/search/messages/request.ts";
import { temporaryFolder } from "../engine/opened.ts";

const lines = (count: number, of: (i: number) => string, between: string) =>
  Array.from({ length: count }, (_, i) => of(i)).join(between);

/** Resolves to the ms that this process works. Nothing else runs in it. */
async function cost<T>(work: () => T | Promise<T>): Promise<{ ms: number; result: T }> {
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return { ms: (user + system) / 1_000, result };
}

test("why a folder has nothing to index: 30 000 rules and 2 000 files", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, ".gitignore"), `*\n${lines(30_000, (i) => `name${i}`, "\n")}\n*.c\n`);
  for (let i = 0; i < 2_000; i++) writeFileSync(join(folder, `${i}.c`), "");
  const { ms, result } = await cost(() => excludedAtTop(folder));
  expect([result.entries, result.excluded]).toEqual([2_000, 2_000]);
  expect(result.rules[0]).toMatchObject({ rule: "*.c", line: 30_002 });
  expect(ms).toBeLessThan(4_000); // measured: 700; each rule of each file would take minutes
});

test.each([
  ["unknown languages", (i: number) => `lang:javascrip${i}`, "language"],
  ["languages like none", (i: number) => `lang:${"xq".repeat(15)}${i}`, "drop-filter"],
  ["filters", (i: number) => `-file:x${i}`, "drop-filter"],
])("what to change in a query of 1 900 %s", async (_, filter, kind) => {
  const query = `${lines(1_900, filter, " ")} hello`;
  const dialect = { regex: false, caseSensitive: false };
  const parsed = parseQuery(query, dialect);
  const request = checkRequest({ query, matches: 1 });
  const { ms, result } = await cost(() => [...changesOf(request, parsed)]);
  expect(result.length).toBe(20);
  expect(result.some(({ change }) => change === kind)).toBe(true);
  expect(ms).toBeLessThan(600); // measured: 20 to 60; of all names 1 500
});
