/** Filters and pages: which options are accepted, and which are refused by name. */

import { expect, test } from "vitest";
import { repository } from "../ingest/listing.ts";
import { openHistory } from "./opened.ts";

const BAD: [method: "commits" | "authors", options: object, says: RegExp][] = [
  ["commits", { path: "../x" }, /path must be relative/],
  ["commits", { path: "a/../b" }, /path must be relative/],
  ["commits", { path: "/etc" }, /path must be relative/],
  ["commits", { path: "a\0b" }, /path must be relative/],
  ["commits", { path: 1 }, /path must be a string/],
  ["authors", { path: ".." }, /path must be relative/],
  ["commits", { author: "\\(a\\)\\1" }, /back-references/],
  ["commits", { query: "a\\{900\\}\\{900\\}" }, /copies/],
  ["commits", { query: "\\(\\(a\\{99\\}\\)\\{99\\}\\)" }, /copies/],
  ["commits", { query: "\\(".repeat(101) }, /groups/],
  ["commits", { query: "x".repeat(1001) }, /longer than 1000/],
  ["commits", { query: "a\0b" }, /without NUL/],
  ["commits", { author: 3 }, /author must be a string/],
  ["commits", { since: "whenever" }, /since must be an ISO 8601 date/],
  ["commits", { since: "" }, /since must be an ISO 8601 date/],
  ["commits", { until: "--output=x" }, /until must be an ISO 8601 date/],
  ["commits", { until: "2024-13" }, /until must be an ISO 8601 date/],
  ["commits", { skip: -1 }, /skip must be a whole number/],
  ["commits", { skip: 1.5 }, /skip must be a whole number/],
  ["commits", { limit: 1001 }, /limit must be a whole number/],
  ["commits", { limt: 5 }, /did you mean limit/],
  ["authors", { since: "yesterday" }, /unknown option "since"/],
];

test("values that are out of range are rejected by name", async () => {
  const { history } = await openHistory(repository({ a: "1" }));
  for (const [method, options, says] of BAD)
    await expect(history[method](options), JSON.stringify(options)).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringMatching(says) as string,
    });
  const INVALID_REF = { code: "INVALID_GIT_REF" };
  await expect(history.diff({ base: "HEAD" } as never)).rejects.toMatchObject(INVALID_REF);
  await expect(history.folders({ paths: "src" } as never)).rejects.toMatchObject({
    code: "INVALID_REQUEST",
  });
});

test("an expression that git cannot read is rejected with git's message", async () => {
  const { history } = await openHistory(repository({ a: "1" }));
  for (const query of ["\\(", "[", "a\\{2"])
    await expect(history.commits({ query }), query).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringMatching(/^query: (?:Unmatched|Invalid)/) as string,
    });
  await expect(history.commits({ author: "\\)" })).rejects.toMatchObject({
    message: expect.stringMatching(/^author: (?:Unmatched|Invalid)/) as string,
  });
});

test("dates in ISO 8601 and in git's own forms are accepted", async () => {
  const { history } = await openHistory(repository({ a: "1" })); // of January 2024
  const DATES: [since: string, total: number][] = [
    ["2024-01-01", 1],
    ["2024-06-01T10:00:00Z", 0],
    ["2024-01-02T03:04:04Z", 1],
    ["2024-01-02T04:04:06+01:00", 0],
    ["2024-01-01 10:00 +0200", 1],
    ["2 weeks ago", 0],
    ["2.weeks.ago", 0],
    ["yesterday", 0],
    ["last month", 0],
    ["20 years 3 months ago", 1],
    ["1700000000", 1],
    ["noon yesterday", 0],
    ["Jun 1 2024", 0],
  ];
  for (const [since, total] of DATES)
    expect((await history.commits({ since })).total, since).toBe(total);
  expect((await history.commits({ until: "2024-01-01T00:00:00Z" })).commits).toEqual([]);
});

test("a path that looks like an option, a pattern or magic is treated only as a path", async () => {
  const files = { "--output=x": "1", ":(glob)**": "2", "*.txt": "3", "a.txt": "4", "-": "5" };
  const { history } = await openHistory(repository(files));
  for (const path of Object.keys(files)) {
    expect((await history.commits({ path })).total, path).toBe(1);
    expect((await history.authors({ path })).total, path).toBe(1);
    expect((await history.blame({ path }))?.ranges, path).toHaveLength(1);
  }
  for (const path of [":(glob)*", "?.txt", "--output", ":/", ":!a.txt"])
    expect((await history.commits({ path })).total, path).toBe(0);
});
